// SPDX-License-Identifier: Apache-2.0
/// \file Connections that nobody uses at the moment, and the right to one of them.
///
/// Idle is thread-safe, a Lease is its holder's. What is done with a connection is done once more
/// on a new one if the server has forgotten what it was asked about, or who asks.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/nfs/connection.h"

namespace headrace::nfs {

class Idle;

class Lease {
 public:
  Lease(Idle& from, std::unique_ptr<Connection> connection)
      : from_(&from), connection_(std::move(connection)) {}
  Lease(Lease&&) noexcept = default;
  Lease& operator=(Lease&&) = delete;
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;
  ~Lease();

  Connection* operator->() { return connection_.get(); }
  Connection& operator*() { return *connection_; }

 private:
  Idle* from_;
  std::unique_ptr<Connection> connection_;
};

class Idle {
 public:
  Idle(Server server, std::unique_ptr<Connection> first) : server_(std::move(server)) {
    give_back(std::move(first));
  }

  /// One that is idle, or a new one.
  Result<Lease> borrow(const std::stop_token& stop) {
    if (auto idle = take()) return Lease(*this, std::move(idle));
    HEADRACE_TRY(auto made, Connection::make(server_, stop));
    return Lease(*this, std::move(made));
  }

  /// `work` on a connection. A stale handle is looked up again by its path, once; a lost
  /// connection is made anew, for as long as a server takes to restart.
  template <class T>
  Result<T> with(const std::stop_token& stop, const std::function<Result<T>(Connection&)>& work) {
    bool looked_again = false;
    for (int attempt = 1;; ++attempt) {
      auto lease = borrow(stop);
      Result<T> result = lease ? work(**lease) : Result<T>(lease.error());
      if (result || result.error().code() != Code::unavailable) return result;
      if (lease && is_stale(result.error())) {
        if (std::exchange(looked_again, true)) return result;
        continue;
      }
      drop_all();  // whoever lost one has lost them all
      if (attempt == kAttempts || !pause(attempt, stop)) return result;
    }
  }

  void give_back(std::unique_ptr<Connection> connection) {
    if (connection == nullptr || connection->broken()) return;
    const MutexLock lock(mutex_);
    idle_.push_back(std::move(connection));
  }

 private:
  static constexpr int kAttempts = 8;  // with the pauses: half a minute
  /// False if a stop came.
  static bool pause(int attempt, const std::stop_token& stop);
  void drop_all() {
    std::vector<std::unique_ptr<Connection>> gone;
    const MutexLock lock(mutex_);
    gone.swap(idle_);
  }
  std::unique_ptr<Connection> take() {
    const MutexLock lock(mutex_);
    if (idle_.empty()) return nullptr;
    auto last = std::move(idle_.back());  // used most recently: its lease on the server is fresh
    idle_.pop_back();
    return last;
  }

  const Server server_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_ HEADRACE_GUARDED_BY(mutex_);
};

inline Lease::~Lease() {
  if (connection_ != nullptr) from_->give_back(std::move(connection_));
}

}  // namespace headrace::nfs
