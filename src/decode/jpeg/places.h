// SPDX-License-Identifier: Apache-2.0
/// \file Tables of the inner loops. Constants; thread-safe.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "headrace/decode/jpeg/headers.h"
#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/pair_tables.h"

namespace headrace::jpeg {

/// Where the coefficient goes that makes the index k: it stands at k - 1 of the zigzag. Beyond
/// the block the entries hold a zero, which goes to the last coefficient's place: that is zero.
struct Places {
  std::array<std::uint16_t, 256> offset{};
};
constexpr Places make_places() {
  Places places;
  for (std::size_t k = 0; k < places.offset.size(); ++k) {
    const unsigned natural = kNaturalOrder[k >= 1 && k <= 64 ? k - 1 : 63];
    places.offset[k] = static_cast<std::uint16_t>(place_in_group(natural / 8, natural % 8));
  }
  return places;
}
inline constexpr Places kPlaces = make_places();

/// The same in bytes, by k as streams.cc counts it: kBias higher, and all else aside.
constexpr Places make_byte_places() {
  Places places;
  for (std::size_t k = 0; k < places.offset.size(); ++k) {
    const bool inside = k > kBias && k <= kBias + 64;
    places.offset[k] = static_cast<std::uint16_t>(kPlaces.offset[inside ? k - kBias : 64] * 2);
  }
  return places;
}
inline constexpr Places kBytePlaces = make_byte_places();

inline std::uint64_t load_big_endian(const std::uint8_t* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return __builtin_bswap64(word);
}

}  // namespace headrace::jpeg
