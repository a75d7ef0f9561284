// SPDX-License-Identifier: Apache-2.0
/// \file The named numbers of one job, counted where things happen and read at epoch ends.
///
/// Thread-safe: relaxed atomics, no locks on the hot path. All are monotonic since the job began;
/// an epoch's share is a difference of two `snapshot`s.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

namespace headrace {

enum class Metric : std::size_t {
  bytes_origin,      ///< bytes that came from the place the data is kept
  bytes_cache,       ///< bytes that came from the node cache
  requests,          ///< requests sent to the origin, retries and hedges included
  requests_list,     ///< of these, LIST requests
  retries,           ///< requests sent again after a failure
  hedges,            ///< requests sent a second time because the first was slow
  cache_hits,        ///< reads served by the cache
  cache_misses,      ///< reads that went past it
  decode_nanos,      ///< thread time spent in decode
  wait_fetch_nanos,  ///< decode threads waiting for bytes
  wait_batch_nanos,  ///< decode threads waiting for a free batch buffer (consumer is slower)
  wait_next_nanos,   ///< the consumer waiting in next(): starvation
  count_
};

/// Stable name, as in JSON: "bytes_origin".
std::string_view to_string(Metric metric);

class Metrics {
 public:
  static constexpr std::size_t kCount = static_cast<std::size_t>(Metric::count_);
  using Snapshot = std::array<std::uint64_t, kCount>;

  void add(Metric metric, std::uint64_t amount) {
    values_[static_cast<std::size_t>(metric)].fetch_add(amount, std::memory_order_relaxed);
  }
  std::uint64_t get(Metric metric) const {
    return values_[static_cast<std::size_t>(metric)].load(std::memory_order_relaxed);
  }
  Snapshot snapshot() const {
    Snapshot copy{};
    for (std::size_t i = 0; i < kCount; ++i) copy[i] = values_[i].load(std::memory_order_relaxed);
    return copy;
  }

 private:
  std::array<std::atomic<std::uint64_t>, kCount> values_{};
};

}  // namespace headrace
