// SPDX-License-Identifier: Apache-2.0
/// \file The one queue between threads: bounded, closable, stoppable.
///
/// Thread-safe: any number of producers and consumers.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <utility>

#include "headrace/base/mutex.h"

namespace headrace {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t capacity) : capacity_(capacity) {}

  /// Waits for room. False if the queue was closed or a stop was asked for: `item` is dropped.
  bool push(T item, const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (items_.size() >= capacity_ && !closed_) {
      if (!lock.wait(changed_, stop)) return false;
    }
    if (closed_ || stop.stop_requested()) return false;
    items_.push_back(std::move(item));
    changed_.notify_all();
    return true;
  }

  /// Waits for an item. Nothing once the queue is closed and empty, or a stop was asked for.
  std::optional<T> pop(const std::stop_token& stop) {
    MutexLock lock(mutex_);
    while (items_.empty()) {
      if (closed_ || !lock.wait(changed_, stop)) return std::nullopt;
    }
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    changed_.notify_all();
    return item;
  }

  /// No more pushes; what is inside can still be taken.
  void close() {
    const MutexLock lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  std::size_t size() const {
    const MutexLock lock(mutex_);
    return items_.size();
  }

 private:
  const std::size_t capacity_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<T> items_ HEADRACE_GUARDED_BY(mutex_);
  bool closed_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace
