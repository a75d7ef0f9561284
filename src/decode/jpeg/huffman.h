// SPDX-License-Identifier: Apache-2.0
/// \file Huffman tables made for speed: one look at the next bits gives length, run and value.
///
/// What mcu_run reads by; streams.h has its own tables (pair_tables.h), made of the same codes.
/// Immutable once built; thread-safe. Codes as in ITU-T T.81, annex C; values as in F.1.2.
#pragma once

#include <array>
#include <cstdint>

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

struct Symbol {
  std::uint8_t length = 0;  ///< of the code; 0: no such code
  std::uint8_t symbol = 0;
};

/// The code of one DHT table.
class HuffmanCode {
 public:
  /// False if the code lengths contradict each other.
  bool build(const HuffmanSpec& spec);
  const HuffmanSpec& spec() const { return spec_; }  ///< not present: nothing usable
  /// Whether it was built from just this: then there is nothing to do. Most pictures of a set share
  /// their tables, or one picture's two do.
  bool is(const HuffmanSpec& spec) const;
  /// For any length. `bits16` = the next 16 bits.
  Symbol find(std::uint32_t bits16) const;

 private:
  std::array<std::uint16_t, 16>
      end_{};  ///< behind the last code of up to so many bits, left-aligned
  std::array<std::int32_t, 17> value_offset_{};
  HuffmanSpec spec_;
};

class HuffmanTable {
 public:
  enum class Kind { dc, ac };

  /// False if the code lengths contradict each other.
  bool build(const HuffmanSpec& spec, Kind kind);

  const FastEntry* fast_table() const { return fast_.data(); }
  Symbol find(std::uint32_t bits16) const { return code_.find(bits16); }

 private:
  alignas(64) std::array<FastEntry, 1U << kLookBits> fast_{};
  HuffmanCode code_;
  Kind kind_ = Kind::dc;
};

/// The entry of one code, of any length.
FastEntry entry_for(HuffmanTable::Kind kind, unsigned symbol, unsigned length);

}  // namespace headrace::jpeg
