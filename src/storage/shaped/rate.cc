// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/shaped/rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "headrace/base/random.h"

namespace headrace {
namespace {

constexpr double kNanos = 1e9;
constexpr double kNanosPerMs = 1e6;
constexpr double kBytesPerMB = 1e6;

Credits per_nano(Credits credits) {
  credits.baseline /= kNanos;
  credits.burst /= kNanos;
  return credits;
}

Credits in_bytes(Credits credits) {
  for (double* part : {&credits.baseline, &credits.burst, &credits.start, &credits.cap})
    *part *= kBytesPerMB;
  return credits;
}

}  // namespace

SharedRate::SharedRate(double per_second, const Credits& credits)
    : per_ns_(per_second > 0 ? per_second / kNanos : std::numeric_limits<double>::infinity()),
      credits_(per_nano(credits)),
      left_(credits.start) {}

double SharedRate::limited(double rate) const { return std::min(rate, per_ns_); }

SharedRate::Use SharedRate::take(double at, double units) {
  const double begin = std::max(at, free_at_);
  if (credits_.burst <= 0) {
    free_at_ = begin + (std::isinf(per_ns_) ? 0 : units / per_ns_);
    return {begin, free_at_};
  }
  left_ = std::min(left_ + credits_.baseline * (begin - free_at_), credits_.cap);
  const double fast = limited(credits_.burst);
  const double spent_per_ns = fast - credits_.baseline;
  if (spent_per_ns <= 0) {  // never faster than what is earned
    free_at_ = begin + units / fast;
    left_ = std::min(left_ - spent_per_ns * (free_at_ - begin), credits_.cap);
    return {begin, free_at_};
  }
  const double fast_ns = std::min(left_ / spent_per_ns, units / fast);
  left_ = std::max(0.0, left_ - fast_ns * spent_per_ns);
  const double rest = std::max(0.0, units - fast_ns * fast);
  free_at_ = begin + fast_ns + (rest > 0 ? rest / limited(credits_.baseline) : 0);
  return {begin, free_at_};
}

ReadPace::ReadPace(const Medium& medium, std::uint64_t seed)
    : medium_(medium),
      seed_(seed),
      requests_(medium.requests_per_second, medium.request_credits),
      bytes_(medium.rate_total_MBps * kBytesPerMB, in_bytes(medium.throughput_credits)) {}

double ReadPace::requests_of(double bytes) const {
  constexpr double kKiB = 1024;
  if (medium_.request_KiB <= 0) return 1;
  return std::max(1.0, std::ceil(bytes / (medium_.request_KiB * kKiB)));
}

ReadPace::Start ReadPace::start(double now, double requests) {
  const auto use = requests_.take(now, requests);
  const bool waits = !medium_.one_stream || counter_ == 0;
  const double latency = waits ? first_byte_ms(medium_, seed_, counter_) * kNanosPerMs : 0;
  ++counter_;
  return {use.begin + latency, use.end - (use.end - use.begin) / requests + latency};
}

double ReadPace::last_byte(double now, double bytes) {
  const double end = bytes_.take(now, bytes).end;
  if (medium_.rate_per_connection_MBps <= 0) return end;
  return std::max(end, now + bytes * kNanos / (medium_.rate_per_connection_MBps * kBytesPerMB));
}

double ReadPace::metadata(double now) {
  return requests_.take(now, 1).begin + medium_.metadata_ms * kNanosPerMs;
}

double first_byte_ms(const Medium& medium, std::uint64_t seed, std::uint64_t counter) {
  if (medium.first_byte_p99_ms <= medium.first_byte_median_ms || medium.first_byte_median_ms <= 0)
    return medium.first_byte_median_ms;
  constexpr double kNormal99 = 2.3263478740408408;  // the normal distribution's 99th percentile
  const double sigma = std::log(medium.first_byte_p99_ms / medium.first_byte_median_ms) / kNormal99;
  Random random(mix_key(seed, counter));
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));
  const double normal = radius * std::cos(2 * std::numbers::pi * random.uniform());  // Box-Muller
  return medium.first_byte_median_ms * std::exp(sigma * normal);
}

}  // namespace headrace
