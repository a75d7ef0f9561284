// SPDX-License-Identifier: Apache-2.0
/// \file Huffman tables for many streams: one look at the next bits gives up to two symbols, with
/// run and value of each.
///
/// Immutable once built; thread-safe. Codes as in ITU-T T.81, annex C; values as in F.1.2.
#pragma once

#include <array>
#include <cstdint>

#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg {

/// How many bits a look takes. A symbol of a photograph takes 6 with its value: two of three
/// neighbours fit into 12. Fewer where looks are few, since all tables share the first cache.
inline constexpr unsigned kMostLookBits = 12;
inline constexpr unsigned kChromaLookBits = 11;
inline constexpr unsigned kDcLookBits = 10;

/// What the next bits say. Two steps, so that the loop does the same for one symbol and for two:
/// `state + (entry >> 16)` is the state after the first symbol, `state + entry` the one after both,
/// where a state holds in its lowest byte the bits taken, in the next the place k that it has come
/// to in the block (plus kBias).
///   bits 0–7    bits that both take                 16–23  that the first takes; 0: see below
///   bits 8–15   by how much both advance k          24–31  by how much the first does
///   bits 32–47  the first's value                   48–63  the second's
/// One symbol alone is entered as if it came twice: the second time nothing is added.
/// The end of a block advances k by 64, and by kAside before: its value (0) goes aside.
/// If the look is too short for a symbol, its bits are 0, and it advances by 128; the value's
/// place then holds the symbol, and above it the code's length, if that is known.
/// All that leaves the usual way sets the highest bit of k: one test a step.
using Entry = std::uint64_t;
inline constexpr std::uint32_t kBias = 64;  ///< k = 0 is stored as 64, so that 64 is stored as 128
inline constexpr std::uint32_t kAside = 192;  ///< k wraps to below 64, where nothing else is
inline constexpr std::uint32_t kBlockDone = 128;

constexpr std::uint32_t value_bits(Symbol symbol, bool ac) {
  return ac ? symbol.symbol & 15U : symbol.symbol;
}

/// By how much a symbol advances k; 64 at the end of the block.
constexpr std::uint32_t advance(Symbol symbol, bool ac) {
  if (!ac) return 1;
  // Longer end-of-band runs are for progressive pictures; here they end the block, as EOB does.
  return (symbol.symbol & 15U) == 0 && symbol.symbol != 0xf0 ? 64 : (symbol.symbol >> 4U) + 1U;
}

/// T.81 F.2.2.1 EXTEND: `bits` of a value of that many bits; with a first bit of 0 it is negative.
constexpr std::int32_t extend(std::uint32_t bits, std::uint32_t count) {
  const std::int32_t range = std::int32_t{1} << count;
  const auto value = static_cast<std::int32_t>(bits);
  return 2 * value < range ? value - range + 1 : value;
}

/// The two tables that a component's blocks are read by.
class BlockTables {
 public:
  /// False if the code lengths contradict each other. Nothing is done if nothing has changed:
  /// many pictures of a set share their tables.
  /// REQUIRES: ac_look_bits <= kMostLookBits
  bool build(const HuffmanSpec& dc, const HuffmanSpec& ac, unsigned ac_look_bits);

  const Entry* dc() const { return dc_entries_.data(); }
  const Entry* ac() const { return ac_entries_.data(); }
  unsigned ac_look_bits() const { return ac_look_bits_; }
  const HuffmanCode& code(bool ac) const { return ac ? ac_code_ : dc_code_; }

 private:
  class Seconds;

  alignas(64) std::array<Entry, std::size_t{1} << kDcLookBits> dc_entries_{};
  alignas(64) std::array<Entry, std::size_t{1} << kMostLookBits> ac_entries_{};
  unsigned ac_look_bits_ = 0;
  HuffmanCode dc_code_, ac_code_;
};

}  // namespace headrace::jpeg
