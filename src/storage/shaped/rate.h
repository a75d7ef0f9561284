// SPDX-License-Identifier: Apache-2.0
/// \file The two clockworks of a medium: a shared rate with burst credits, and a latency that is
/// a pure function of a counter. Arithmetic only: times are handed in.
///
/// Not thread-safe. Times are nanoseconds as double: exact to 1 ns for 100 days.
#pragma once

#include <cstdint>

#include "headrace/storage/shaped/media.h"

namespace headrace {

/// First come, first served: each use occupies the whole rate for as long as it needs. On
/// average that is what fair sharing gives, and it needs no recomputation when others arrive.
class SharedRate {
 public:
  /// Units a second; 0 = without limit. With credits the lower of the two limits holds.
  SharedRate(double per_second, const Credits& credits);

  struct Use {
    double begin;
    double end;
  };
  /// The time that `units` asked for at `at` occupy. Calls must come in the order of service;
  /// an earlier `at` than the last one is served after it.
  Use take(double at, double units);

  /// Credits left when the last use ended.
  double credits() const { return left_; }

 private:
  double limited(double rate) const;

  const double per_ns_;
  const Credits credits_;  ///< rates are a nanosecond
  double left_;
  double free_at_ = 0;
};

/// When the reads of a medium get their bytes. `medium` must outlive it.
class ReadPace {
 public:
  ReadPace(const Medium& medium, std::uint64_t seed);

  /// How many requests of the medium a read of so many bytes is.
  double requests_of(double bytes) const;
  struct Start {
    double first_byte;
    double last_piece;  ///< when the last of its requests has its first byte
  };
  /// A read that is asked for at `now`.
  Start start(double now, double requests);
  /// Of a read whose first byte is there at `now`.
  double last_byte(double now, double bytes);
  /// When a request without bytes is served.
  double metadata(double now);

 private:
  const Medium& medium_;
  const std::uint64_t seed_;
  SharedRate requests_;
  SharedRate bytes_;
  std::uint64_t counter_ = 0;
};

/// Milliseconds of the `counter`-th request: lognormal through the median and the 99th percentile.
double first_byte_ms(const Medium& medium, std::uint64_t seed, std::uint64_t counter);

}  // namespace headrace
