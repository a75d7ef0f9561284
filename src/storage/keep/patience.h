// SPDX-License-Identifier: Apache-2.0
/// \file How long a read waits for another process that fetches the same: as long as a fetch of its
/// own takes but for rare ones, by the rule that TCP sets its retransmission timer with (RFC 6298),
/// and never less than a process may stand still on a busy machine. Waiting longer would cost more
/// than a second request; less would make one where none is needed. Each wait that ran out halves
/// the next one, until one was worth it again: a process that stands still is soon not waited for.
///
/// A value.
#pragma once

#include <algorithm>

#include "headrace/base/clock.h"

namespace headrace::keep {

class Patience {
 public:
  /// A fetch took so long, until others could read it.
  void learn(Nanos took) {
    if (mean_ == Nanos{0}) {
      mean_ = took;
      deviation_ = took / 2;
      return;
    }
    const Nanos off = took > mean_ ? took - mean_ : mean_ - took;
    deviation_ += (off - deviation_) / 4;
    mean_ += (took - mean_) / 8;
  }
  void ran_out() { halvings_ = std::min(halvings_ + 1, kMostHalvings); }
  void paid_off() { halvings_ = 0; }
  Nanos limit() const {
    return std::clamp<Nanos>(mean_ + 4 * deviation_, kLeast, kMost) / (1 << halvings_);
  }

 private:
  static constexpr Nanos kLeast = std::chrono::seconds(1);  // half of what a loader looks ahead
  static constexpr Nanos kMost = std::chrono::seconds(5);
  static constexpr int kMostHalvings = 5;

  Nanos mean_{0};
  Nanos deviation_{0};
  int halvings_ = 0;
};

}  // namespace headrace::keep
