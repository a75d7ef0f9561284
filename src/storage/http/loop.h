// SPDX-License-Identifier: Apache-2.0
/// \file One thread that carries hundreds of HTTP exchanges at once, by epoll: GET and HEAD on
/// connections of its own (wire.h), the rest, and all through proxies, by libcurl.
///
/// Thread-safe. Connections are kept and used again. Exchanges start in the order they came in;
/// at most `max_active` are on the wire, or fewer by `set_max_active`. Not usable after fork: a
/// loop is of the process that made it.
///
/// What is asked of the environment (proxies) is asked by whoever makes the options.
#pragma once

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/clock.h"
#include "headrace/storage/http/exchange.h"

namespace headrace::http {

struct LoopOptions {
  std::size_t max_active = 64;
  std::string ca_bundle;  ///< file of certificates; empty: the system's
  std::string proxy;      ///< "http://host:3128"; empty: none
  std::string no_proxy;   ///< for whom not: names, domains, networks, or "*"
  Nanos connect_timeout = std::chrono::seconds(5);
  /// An attempt on which no byte moves for so long is broken; a few seconds later, if bytes had
  /// moved before, as curl averages over five.
  std::chrono::seconds stall_timeout{30};
};

class Loop {
 public:
  explicit Loop(const LoopOptions& options);
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  /// Cancels what is left and returns when it was told so.
  ~Loop();

  void start(std::unique_ptr<Exchange> exchange, const std::stop_token& stop);

  /// Exchanges that begin from now on heed it; at most that of the options.
  void set_max_active(std::size_t max_active);

  /// How many are started and not over.
  std::size_t load() const;

  /// In a process that was forked from the loop's own: gives up everything without touching it,
  /// since the thread is not there and the connections belong to the parent.
  static void abandon(std::unique_ptr<Loop> loop);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace headrace::http
