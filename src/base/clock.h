// SPDX-License-Identifier: Apache-2.0
/// \file Time, as something that can be handed in: the real clock, and one that tests move.
///
/// Thread-safe. Durations are steady (never jump); only `wall_seconds` follows the calendar.
#pragma once

#include <chrono>
#include <cstdint>
#include <set>
#include <stop_token>

#include "headrace/base/mutex.h"

namespace headrace {

using Nanos = std::chrono::nanoseconds;

class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Steady time since an arbitrary start.
  virtual Nanos now() const = 0;
  /// False if a stop was asked for before the time was over.
  virtual bool sleep_until(Nanos when, const std::stop_token& stop) = 0;
  bool sleep_for(Nanos how_long, const std::stop_token& stop) {
    return sleep_until(now() + how_long, stop);
  }
  /// Seconds since 1970; for signatures and file dates, never for intervals.
  virtual std::int64_t wall_seconds() const = 0;
};

/// The machine's clock. One for the whole process; never destroyed.
Clock& real_clock();

/// Stands still until it is moved; sleepers wake when it passes their time.
class ManualClock final : public Clock {
 public:
  Nanos now() const override;
  bool sleep_until(Nanos when, const std::stop_token& stop) override;
  std::int64_t wall_seconds() const override;
  void advance(Nanos by);
  /// How many threads sleep now, so that a test can wait for them before it moves the clock.
  int sleepers() const;
  /// The earliest time that someone sleeps for; Nanos::max() if nobody does.
  Nanos next_wake() const;

 private:
  mutable Mutex mutex_;
  Condition moved_;
  Nanos now_ HEADRACE_GUARDED_BY(mutex_){0};
  std::multiset<Nanos> wakes_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace headrace
