// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/accelerator.h"

#include <algorithm>

namespace headrace {

void Accelerator::begin_epoch() {
  steps_ = 0;
  computed_ = 0;
  overrun_ = Nanos{0};
}

bool Accelerator::step(std::size_t samples, const std::stop_token& stop) {
  if (rate_ <= 0) return !stop.stop_requested();
  const double seconds = static_cast<double>(samples) / rate_;
  // A sleep ends late, by the timer and by the scheduler; an accelerator does not. What the last
  // sleep was late by is taken off here, so that only waiting for the batch counts as waiting.
  const Nanos begin = clock_.now() - overrun_;
  last_end_ = begin + Nanos(static_cast<Nanos::rep>(seconds * 1e9));
  const bool whole = clock_.sleep_until(last_end_, stop);
  overrun_ = std::max(Nanos{0}, clock_.now() - last_end_);
  if (steps_++ == 0) {
    counted_from_ = last_end_;
  } else {
    computed_ += seconds;
  }
  return whole;
}

std::optional<double> Accelerator::busy() const {
  const double total = std::chrono::duration<double>(last_end_ - counted_from_).count();
  if (rate_ <= 0 || steps_ < 2 || total <= 0) return std::nullopt;
  return std::min(1.0, computed_ / total);
}

}  // namespace headrace
