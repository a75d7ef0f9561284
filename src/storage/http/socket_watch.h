// SPDX-License-Identifier: Apache-2.0
/// \file Sockets in epoll by curl's wishes, with as few system calls as can be.
///
/// Not thread-safe: a loop's thread only. When curl has no more wish for a socket, it stays in
/// epoll, since it is likely to be used again, until it rings. That also spares a socket which
/// curl has closed already and whose number is another file's by now, as happens when a connection
/// is given up while it is being made.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "headrace/base/unique_fd.h"

namespace headrace::http {

class SocketWatch {
 public:
  SocketWatch();

  /// For epoll_wait.
  int epoll() const { return epoll_.get(); }
  /// Watches what is no socket of curl's, for good.
  void add(int fd);

  /// curl opened it by our callback: it is not in epoll.
  void opened(int fd) { sockets_[fd] = {.opened_by_us = true}; }
  /// curl closes it by our callback.
  void closed(int fd) { sockets_.erase(fd); }
  /// curl wants it watched for these events (EPOLLIN, EPOLLOUT).
  void wish(int fd, std::uint32_t events);
  void no_wish(int fd);

  /// It rang. False: curl has no wish for it, and it is not watched any more.
  bool wanted(int fd);

 private:
  struct Socket {
    std::uint32_t events = 0;  // in epoll; 0: not there
    bool wanted = false;
    bool opened_by_us = false;
  };
  int control(int operation, int fd, std::uint32_t events) const;

  UniqueFd epoll_;
  std::unordered_map<int, Socket> sockets_;
};

}  // namespace headrace::http
