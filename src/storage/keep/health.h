// SPDX-License-Identifier: Apache-2.0
/// \file Whether the cache's disk may be used now. After trouble it is left alone for a while,
/// longer each time, and then tried again. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <utility>

#include "headrace/base/context.h"
#include "headrace/base/error.h"

namespace headrace::keep {

class Health {
 public:
  explicit Health(Context context) : context_(std::move(context)) {}

  bool usable() const {
    const std::int64_t off_until = off_until_.load(std::memory_order_relaxed);
    return off_until == 0 || context_.clock->now().count() >= off_until;
  }

  /// The disk failed. Leaves one notice, whatever happens afterwards.
  void trouble(const Error& error) {
    context_.notices->add("keep-trouble", "the cache's disk fails (" + error.to_string() +
                                              "); the job goes on from the origin, and the cache "
                                              "is tried again later");
    const auto pause = pause_.load();
    off_until_ = context_.clock->now().count() + pause;
    pause_ = std::min(pause * 2, kLongestPause);
  }
  /// It worked again.
  void well() { pause_.store(kFirstPause, std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t kFirstPause = 1'000'000'000;  // ns
  static constexpr std::int64_t kLongestPause = 60'000'000'000;

  const Context context_;
  std::atomic<std::int64_t> off_until_ = 0;  ///< steady time in ns
  std::atomic<std::int64_t> pause_ = kFirstPause;
};

}  // namespace headrace::keep
