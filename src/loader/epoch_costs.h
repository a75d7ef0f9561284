// SPDX-License-Identifier: Apache-2.0
/// \file What each epoch cost: counters of the origin and the cache by what was asked for it,
/// though the next epoch is fetched ahead; waiting and computing by the time they happened in.
///
/// Thread-safe.
#pragma once

#include <cstdint>
#include <map>

#include "headrace/base/metrics.h"
#include "headrace/base/mutex.h"

namespace headrace {

class EpochCosts {
 public:
  explicit EpochCosts(const Metrics& metrics)
      : metrics_(metrics), fetched_(metrics.snapshot()), delivered_(fetched_) {}

  /// All reads of an epoch have ended, none of the next has begun. The first call counts.
  void fetched(std::uint64_t epoch) {
    const MutexLock lock(mutex_);
    ends_.emplace(epoch, metrics_.snapshot());
  }

  /// The consumer has come to the end of an epoch, and takes what it cost since the last call.
  Metrics::Snapshot take(std::uint64_t epoch) {
    const MutexLock lock(mutex_);
    const auto now = metrics_.snapshot();
    // All was delivered, so all was fetched, even if the fetcher has not said so yet.
    const auto end = ends_.emplace(epoch, now).first->second;
    Metrics::Snapshot cost{};
    for (std::size_t i = 0; i < cost.size(); ++i) {
      cost[i] = of_time(static_cast<Metric>(i)) ? now[i] - delivered_[i] : end[i] - fetched_[i];
    }
    fetched_ = end;
    delivered_ = now;
    while (!ends_.empty() && ends_.begin()->first < epoch) ends_.erase(ends_.begin());
    return cost;
  }

 private:
  static bool of_time(Metric metric) {
    return metric == Metric::decode_nanos || metric == Metric::wait_fetch_nanos ||
           metric == Metric::wait_batch_nanos || metric == Metric::wait_next_nanos;
  }

  const Metrics& metrics_;
  Mutex mutex_;
  std::map<std::uint64_t, Metrics::Snapshot> ends_ HEADRACE_GUARDED_BY(mutex_);
  Metrics::Snapshot fetched_ HEADRACE_GUARDED_BY(mutex_);
  Metrics::Snapshot delivered_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
