// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/socket_watch.h"

#include <sys/epoll.h>

#include <cerrno>

namespace headrace::http {

SocketWatch::SocketWatch() : epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}

int SocketWatch::control(int operation, int fd, std::uint32_t events) const {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  return ::epoll_ctl(epoll_.get(), operation, fd, &event) == 0 ? 0 : errno;
}

void SocketWatch::add(int fd) {
  control(EPOLL_CTL_ADD, fd, EPOLLIN);
  sockets_[fd] = {.events = EPOLLIN, .wanted = true};
}

void SocketWatch::wish(int fd, std::uint32_t events) {
  Socket& socket = sockets_[fd];
  socket.wanted = true;
  if (socket.opened_by_us && socket.events == events) return;
  socket.events = events;
  // Whether epoll has it is a guess: a socket that was closed behind our back is gone from it.
  if (control(EPOLL_CTL_MOD, fd, events) == ENOENT) control(EPOLL_CTL_ADD, fd, events);
}

void SocketWatch::no_wish(int fd) {
  const auto found = sockets_.find(fd);
  if (found != sockets_.end()) found->second.wanted = false;
}

bool SocketWatch::wanted(int fd) {
  const auto found = sockets_.find(fd);
  if (found != sockets_.end() && found->second.wanted) return true;
  control(EPOLL_CTL_DEL, fd, 0);
  if (found != sockets_.end()) found->second.events = 0;
  return false;
}

}  // namespace headrace::http
