// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/governor.h"

#include <algorithm>
#include <cmath>

namespace headrace::s3 {
namespace {

constexpr double kRequestWork = 64.0 * 1024;  // a request is worth so many bytes: HEADs count too
constexpr double kClimbGain = 1.1;            // of a doubling
constexpr double kClearGain = 1.4;            // of a doubling, within a short time
constexpr double kNoSlower = 1.2;             // latency that has not risen
constexpr double kTryGain = 1.05;             // of a quarter more
constexpr double kTryLoss = 0.98;             // of a fifth less: no loss at all
constexpr double kSlower = 1.5;               // latency that has risen
constexpr double kCut = 0.7;
constexpr double kRecover = 0.1;  // of the limit to climb back to, a window
constexpr int kQuietWindows = 8;  // between tries
constexpr double kMemory = 0.25;  // weight of the newest window while holding

}  // namespace

Governor::Governor(const GovernorOptions& options)
    : options_(options),
      limit_(std::clamp(options.begin, options.least, std::max(options.least, options.most))) {}

void Governor::set(double limit) {
  const auto most = static_cast<double>(std::max(options_.least, options_.most));
  limit_ = static_cast<std::size_t>(
      std::clamp(std::round(limit), static_cast<double>(options_.least), most));
}

void Governor::hold_at(double limit) {
  set(limit);
  phase_ = Phase::hold;
  held_ = limit_;
  quiet_ = 0;
}

void Governor::ended(Nanos now, const Attempt& attempt) {
  if (!begun_) {
    begun_ = true;
    window_ = {.begin = now};
  }
  window_.count += 1;
  window_.work += static_cast<double>(attempt.bytes) + kRequestWork;
  window_.latency += static_cast<double>(attempt.latency.count());
  window_.throttled += attempt.throttled ? 1 : 0;
  window_.saturated += attempt.saturated ? 1 : 0;
  // Each place on the wire has been taken once, so the rate is that of this limit.
  if ((now - window_.begin < options_.window || window_.count < limit_) && !clear_gain(now)) {
    // Throttling is not waited out: two and 2 % are no accident.
    if (window_.throttled < 2 || window_.throttled * 50 < window_.count || window_.count < 20)
      return;
  }
  close(now);
  window_ = {.begin = now};
}

/// A step of the climb that need not be measured for long: each place has been taken twice, no
/// answer took longer than with half as many, and the rate is far above. Where the latency rises
/// with the number, or the first answers took longer for being the first, a whole window decides.
bool Governor::clear_gain(Nanos now) const {
  const std::size_t enough = rate_ == 0 ? limit_ : 2 * limit_;  // those of a lower limit come first
  if (phase_ != Phase::climb || window_.count < enough || window_.throttled > 0) return false;
  if (rate_ == 0) return true;  // the first: there is nothing to compare
  const auto elapsed = static_cast<double>((now - window_.begin).count());
  const auto count = static_cast<double>(window_.count);
  return window_.latency < latency_ * count * kNoSlower &&
         window_.work * 1e9 > rate_ * kClearGain * elapsed;
}

void Governor::cut() {
  if (phase_ != Phase::recover) good_ = limit_;
  phase_ = Phase::recover;
  set(static_cast<double>(limit_) * kCut);
}

void Governor::close(Nanos now) {
  const double seconds = std::max(static_cast<double>((now - window_.begin).count()) * 1e-9, 1e-6);
  const double rate = window_.work / seconds;
  const double latency = window_.latency / static_cast<double>(window_.count);
  if (window_.throttled >= 2 && window_.throttled * 50 >= window_.count) return cut();
  const auto limit = static_cast<double>(limit_);
  if (window_.saturated * 2 < window_.count) {  // the demand was the limit
    if (phase_ == Phase::try_more || phase_ == Phase::try_less) hold_at(static_cast<double>(held_));
    return;
  }
  switch (phase_) {
    case Phase::climb:
      if (rate_ == 0 || rate > rate_ * kClimbGain) {
        rate_ = rate;
        latency_ = latency;
        held_ = limit_;
        set(limit * 2);
        if (limit_ == held_) hold_at(limit);
      } else {
        hold_at(static_cast<double>(held_));
      }
      return;
    case Phase::recover: {
      const auto good = static_cast<double>(good_);
      set(limit + std::max(1.0, good * kRecover));
      if (limit_ >= good_) {
        rate_ = rate;
        latency_ = latency;
        hold_at(good);
      }
      return;
    }
    case Phase::hold:
      if (latency > latency_ * kSlower && rate < rate_ * kTryGain && limit_ > options_.least) {
        latency_ = latency;
        hold_at(limit * 0.9);
        return;
      }
      rate_ += (rate - rate_) * kMemory;
      latency_ += (latency - latency_) * kMemory;
      if (++quiet_ < kQuietWindows) return;
      phase_ = more_next_ ? Phase::try_more : Phase::try_less;
      set(more_next_ ? std::max(limit * 1.25, limit + 1) : limit * 0.8);
      more_next_ = !more_next_;
      if (limit_ == held_) hold_at(limit);
      return;
    case Phase::try_more:
    case Phase::try_less: {
      const bool more = phase_ == Phase::try_more;
      if (rate < rate_ * (more ? kTryGain : kTryLoss)) return hold_at(static_cast<double>(held_));
      rate_ = rate;
      latency_ = latency;
      hold_at(limit);
      more_next_ = more;  // on in the same direction, and soon
      quiet_ = kQuietWindows - 2;
      return;
    }
  }
}

}  // namespace headrace::s3
