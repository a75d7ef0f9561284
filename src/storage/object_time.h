// SPDX-License-Identifier: Apache-2.0
/// \file When an object was last changed: nanoseconds since 1970, 0 where nobody knows. Pure.
///
/// 64 bits hold 1678 to 2262. Servers and file systems say more: what does not fit is unknown.
#pragma once

#include <cstdint>
#include <ctime>
#include <limits>

namespace headrace {

inline constexpr std::int64_t kNanosOfSecond = 1'000'000'000;

constexpr std::int64_t object_time(std::int64_t seconds, std::int64_t nanos = 0) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / kNanosOfSecond - 1;
  if (seconds > kMost || seconds < -kMost) return 0;
  return seconds * kNanosOfSecond + nanos;
}

/// As system calls take it: the nanoseconds count forward, before 1970 too.
constexpr timespec timespec_of(std::int64_t object_time) {
  std::int64_t seconds = object_time / kNanosOfSecond;
  std::int64_t nanos = object_time % kNanosOfSecond;
  if (nanos < 0) {
    nanos += kNanosOfSecond;
    --seconds;
  }
  return {.tv_sec = seconds, .tv_nsec = nanos};
}

}  // namespace headrace
