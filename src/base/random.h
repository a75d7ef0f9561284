// SPDX-License-Identifier: Apache-2.0
/// \file Numbers that look random and are a pure function of their key: no state is shared, no
/// thread matters, and every platform and library gives the same ones.
///
/// Never std::shuffle or a std distribution: they differ between standard libraries.
/// SplitMix64 (public domain reference, 2015) as finaliser and as stream.
#pragma once

#include <cstdint>

namespace headrace {

constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

/// A key made of several numbers, order matters.
template <class... Rest>
constexpr std::uint64_t mix_key(std::uint64_t first, Rest... rest) {
  std::uint64_t key = mix64(first);
  ((key = mix64(key ^ static_cast<std::uint64_t>(rest))), ...);
  return key;
}

/// A stream of numbers from one key.
class Random {
 public:
  explicit constexpr Random(std::uint64_t key) : state_(key) {}

  constexpr std::uint64_t next() {
    const std::uint64_t value = mix64(state_);
    state_ += 0x9e3779b97f4a7c15U;
    return value;
  }
  /// In [0, 1), with 53 bits.
  constexpr double uniform() { return static_cast<double>(next() >> 11U) * 0x1.0p-53; }
  constexpr double uniform(double from, double to) { return from + (to - from) * uniform(); }
  /// In [0, bound). Bounds up to 2^32 - 1 by multiplication, larger ones by remainder: the bias
  /// is at most bound / 2^32, or bound / 2^64. REQUIRES: bound > 0
  constexpr std::uint64_t below(std::uint64_t bound) {
    const auto high = next() >> 32U;
    return bound <= 0xffffffffU ? (high * bound) >> 32U : next() % bound;
  }

 private:
  std::uint64_t state_;
};

}  // namespace headrace
