// SPDX-License-Identifier: Apache-2.0
/// \file Huffman tables made for speed: one look at the next bits gives length, run and value.
///
/// Immutable once built; thread-safe. Codes as in ITU-T T.81, annex C; values as in F.1.2.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "headrace/decode/jpeg/headers.h"

namespace headrace::jpeg {

/// Longer codes are rare: under 0.1 % of the symbols of photographs.
inline constexpr unsigned kLookBits = 12;

/// An entry of the fast table, found by the next kLookBits bits:
///   bits 0–5   how many bits code and value take together
///   bits 8–15  by how much the coefficient index goes on: run + 1; kEndOfBlock; or kSlow for a
///              code that is longer: then the other fields are 0
///   bits 16–23 how many bits of a 64-bit window lie below the value
///   bits 24–31 how many bits the value takes
/// The next look depends only on the first field; the value is worked out beside that chain, so
/// values need not fit into the look. All that leaves the usual way makes the index 64 or more:
/// one branch a symbol.
using FastEntry = std::uint32_t;
inline constexpr std::uint32_t kEndOfBlock = 64;
inline constexpr std::uint32_t kSlow = 128;

constexpr std::uint32_t advance_of(FastEntry entry) { return (entry >> 8U) & 0xffU; }

class HuffmanTable {
 public:
  enum class Kind { dc, ac };

  struct Code {
    std::uint8_t length = 0;  ///< 0: no such code
    std::uint8_t symbol = 0;
  };

  /// False if the code lengths contradict each other.
  bool build(const HuffmanSpec& spec, Kind kind);

  const FastEntry* fast_table() const { return fast_.data(); }

  /// For any length. `bits16` = the next 16 bits.
  Code find(std::uint32_t bits16) const;

 private:
  alignas(64) std::array<FastEntry, 1U << kLookBits> fast_{};
  std::array<std::int32_t, 18> max_code_{};  ///< largest code of a length, -1 if none
  std::array<std::int32_t, 17> value_offset_{};
  HuffmanSpec built_;  ///< what the table was made from; not present = nothing usable
  Kind kind_ = Kind::dc;
};

/// The entry of one code, of any length.
FastEntry entry_for(HuffmanTable::Kind kind, unsigned symbol, unsigned length);

}  // namespace headrace::jpeg
