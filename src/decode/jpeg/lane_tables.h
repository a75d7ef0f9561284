// SPDX-License-Identifier: Apache-2.0
/// \file Huffman tables for lanes.h: one look at the next bits gives up to two symbols, and all
/// that they change in a block, as fields that vectors add and shift.
///
/// Immutable once built; thread-safe. Codes as in ITU-T T.81, annex C; values as in F.1.2.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg {

/// What the next kLaneLookBits bits say, where p counts the block's coefficients so far:
///   bits 0–5    bits that all its symbols take; 0: the lane waits for the long way
///   bit 6       long way: the code is known, its value lies beyond the look; see below
///   bit 7       longer way: the code itself is too long, or there is none
///   bits 8–15   by how much all of them advance p; the end of a block: by kEndAdvance
///   bits 16–21  bits 0–5 again
///   bits 22–34  bit a - 1 for each value: at p + a - 1 it stands
///   bit 35      a first value is there, in bits 36–47, signed; 51: a second one, in 52–63
/// For the long way bits 8–21 stand in 36–49, and how many bits the value has, less one, in 52–55.
using LaneEntry = std::uint64_t;
inline constexpr unsigned kLaneLookBits = 11;
inline constexpr std::size_t kLaneTable = std::size_t{1} << kLaneLookBits;
struct LaneField {
  static constexpr unsigned kAdvance = 8, kBitsAgain = 16, kPlaces = 22, kPlaceBits = 13;
  static constexpr unsigned kFirst = 35, kSecond = 51, kValueBits = 12;
  static constexpr unsigned kLongAdvance = 36, kLongBits = 44, kLongSize = 52;
  static constexpr LaneEntry kLongWay = 1U << 6U, kLongerWay = 1U << 7U;
};
/// So that what ends a block as it should be cannot be taken for a run that leads out of it.
inline constexpr std::uint32_t kEndAdvance = 128;
/// A pair of values advances p by so much at most, and from so many coefficients on only single
/// symbols are looked up: else a second one might belong to the next block.
inline constexpr std::uint32_t kMostPairAdvance = 8;
inline constexpr std::uint32_t kSinglesFrom = 64 - kMostPairAdvance;
/// Code and value of the long way together: what is left of a window of 57 bits is enough for
/// three more looks.
inline constexpr std::uint32_t kMostLongBits = 57 - 3 * kLaneLookBits;

/// One symbol of the longer way.
struct LongerStep {
  bool found = false;        ///< false: no such code; one bit is taken, and the block ends
  LaneEntry entry = 0;       ///< its value as a first one, and nothing else; 0: it has none
  std::uint64_t turn = 0;    ///< bits that it takes
  std::uint64_t step = 0;    ///< as an entry from kAdvance on: its advance, and these bits again
  std::uint64_t places = 0;  ///< as an entry's
};
/// `window` holds 57 bits.
LongerStep longer_step(const HuffmanCode& code, bool ac, std::uint64_t window);

/// The tables that a component's blocks are read by, side by side as lanes look them up.
class LaneTables {
 public:
  enum Part : std::size_t { kDc, kAcPairs, kAcSingles, kParts };

  /// False if the code lengths contradict each other. Nothing is done if nothing has changed:
  /// many pictures of a set share their tables. `out` has kParts · kLaneTable entries.
  bool build(const HuffmanSpec& dc, const HuffmanSpec& ac, LaneEntry* out);
  const HuffmanCode& code(bool ac) const { return ac ? ac_code_ : dc_code_; }

 private:
  HuffmanCode dc_code_, ac_code_;
};

}  // namespace headrace::jpeg
