// SPDX-License-Identifier: Apache-2.0
/// \file The same work on many items, by several threads, with the results in the order of the
/// items.
///
/// Not thread-safe: one thread hands in and takes out. Example: shard_job.cc.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/base/bounded_queue.h"

namespace headrace {

template <class Out>
class OrderedPool {
 public:
  using Work = std::function<Out()>;

  /// With no thread, work is done when its result is taken.
  explicit OrderedPool(unsigned threads) : work_(kAhead * (threads + std::size_t{1})) {
    for (unsigned i = 0; i < threads; ++i) {
      threads_.emplace_back([this](const std::stop_token& stop) {
        while (auto task = work_.pop(stop)) (*task)();
      });
    }
  }

  /// True if more should be handed in before the next result is taken.
  bool hungry() const {
    return results_.size() < (threads_.empty() ? 1 : kAhead * threads_.size());
  }
  bool empty() const { return results_.empty(); }

  void hand_in(Work work) {
    std::packaged_task<Out()> task(std::move(work));
    results_.push_back(task.get_future());
    if (threads_.empty()) {
      task();
    } else {
      work_.push(std::move(task), {});
    }
  }

  /// The result of the first that was handed in. REQUIRES: !empty()
  Out take() {
    std::future<Out> first = std::move(results_.front());
    results_.pop_front();
    return first.get();
  }

 private:
  static constexpr std::size_t kAhead = 4;

  std::deque<std::future<Out>> results_;
  BoundedQueue<std::packaged_task<Out()>> work_;
  std::vector<std::jthread> threads_;
};

}  // namespace headrace
