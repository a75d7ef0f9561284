// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/accelerator.h"

#include <algorithm>

namespace headrace {

void Accelerator::begin_epoch() {
  steps_ = 0;
  computed_ = 0;
}

bool Accelerator::step(std::size_t samples, const std::stop_token& stop) {
  if (rate_ <= 0) return !stop.stop_requested();
  const double seconds = static_cast<double>(samples) / rate_;
  const Nanos begin = clock_.now();
  const bool whole =
      clock_.sleep_until(begin + Nanos(static_cast<Nanos::rep>(seconds * 1e9)), stop);
  last_end_ = clock_.now();
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
