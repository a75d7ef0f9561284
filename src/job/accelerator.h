// SPDX-License-Identifier: Apache-2.0
/// \file An emulated accelerator: takes a batch, is busy for as long as its rate says, takes the
/// next. The busy share follows MLPerf Storage's AU: compute time over total time, the first step
/// of an epoch excluded.
///
/// Not thread-safe.
#pragma once

#include <optional>
#include <stop_token>

#include "headrace/base/clock.h"

namespace headrace {

class Accelerator {
 public:
  /// `samples_per_second` of 0: never busy.
  Accelerator(Clock& clock, double samples_per_second) : clock_(clock), rate_(samples_per_second) {}

  void begin_epoch();
  /// Computes on one batch; false if a stop was asked for before it ended.
  bool step(std::size_t samples, const std::stop_token& stop);
  /// Of this epoch so far; nothing without a rate, or before the second step ended.
  std::optional<double> busy() const;

 private:
  Clock& clock_;
  const double rate_;
  std::size_t steps_ = 0;
  Nanos counted_from_{0};  ///< the end of the first step
  Nanos last_end_{0};      ///< when the last batch was computed
  Nanos overrun_{0};       ///< by how much the last sleep was longer than that
  double computed_ = 0;    ///< seconds, without the first step
};

}  // namespace headrace
