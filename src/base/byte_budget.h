// SPDX-License-Identifier: Apache-2.0
/// \file The limit on bytes in flight, granted in delivery order so that nothing deadlocks.
///
/// Thread-safe. One reserver (the stage that fetches, which asks in delivery order), any number
/// of releasers. A reservation is admitted while the total stays within the limit, and always
/// when nothing is reserved: so the sample at the head gets through even if it alone is larger.
/// It may begin with less than the limit, and grow while more would help.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>

#include "headrace/base/mutex.h"

namespace headrace {

class ByteBudget {
 public:
  /// Gives its bytes back when it goes. Must not outlive the budget. Movable.
  class Grant {
   public:
    Grant() = default;
    Grant(ByteBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes) {}
    Grant(Grant&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Grant& operator=(Grant&& other) noexcept {
      if (this != &other) {
        release();
        budget_ = std::exchange(other.budget_, nullptr);
        bytes_ = std::exchange(other.bytes_, 0);
      }
      return *this;
    }
    Grant(const Grant&) = delete;
    Grant& operator=(const Grant&) = delete;
    ~Grant() { release(); }

    void release() {
      if (budget_ != nullptr) std::exchange(budget_, nullptr)->give_back(bytes_);
    }
    std::uint64_t bytes() const { return bytes_; }

   private:
    ByteBudget* budget_ = nullptr;
    std::uint64_t bytes_ = 0;
  };

  explicit ByteBudget(std::uint64_t limit) : ByteBudget(limit, limit) {}
  /// Grants `first` bytes at a time until it is widened.
  ByteBudget(std::uint64_t limit, std::uint64_t first)
      : limit_(limit), granted_(std::min(first, limit)) {}

  /// Waits until `bytes` fit. An empty Grant (of 0 bytes) only when a stop was asked for.
  Grant reserve(std::uint64_t bytes, const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (used_ != 0 && used_ + bytes > granted_) {
      waiting_ = true;
      const bool go_on = lock.wait(released_, stop);
      waiting_ = false;
      if (!go_on) return {};
    }
    if (stop.stop_requested()) return {};
    add(bytes);
    return {this, bytes};
  }

  /// The same without waiting: nothing if the bytes do not fit now.
  std::optional<Grant> try_reserve(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    if (used_ != 0 && used_ + bytes > granted_) return std::nullopt;
    add(bytes);
    return Grant(this, bytes);
  }

  /// Admitted whatever is in use: for what earlier bytes already wait for, a substitute say,
  /// since waiting for them to be given back would be waiting for ever.
  Grant take(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    add(bytes);
    return {this, bytes};
  }

  /// Twice as much from now on, up to the limit, if the reserver waits: for who has nothing to do
  /// meanwhile. Narrow is enough for a disk that answers at once; S3 needs what it takes 30 ms
  /// long.
  void widen() {
    const MutexLock lock(mutex_);
    if (!waiting_ || granted_ == limit_) return;
    granted_ = granted_ > limit_ / 2 ? limit_ : 2 * granted_;
    released_.notify_all();
  }

  std::uint64_t limit() const { return limit_; }
  std::uint64_t used() const {
    const MutexLock lock(mutex_);
    return used_;
  }
  std::uint64_t peak() const {
    const MutexLock lock(mutex_);
    return peak_;
  }

 private:
  void add(std::uint64_t bytes) HEADRACE_REQUIRES(mutex_) {
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
  }
  void give_back(std::uint64_t bytes) {
    const MutexLock lock(mutex_);
    used_ -= bytes;
    released_.notify_all();
  }

  const std::uint64_t limit_;
  mutable Mutex mutex_;
  Condition released_;
  std::uint64_t granted_ HEADRACE_GUARDED_BY(mutex_);
  bool waiting_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::uint64_t used_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t peak_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace
