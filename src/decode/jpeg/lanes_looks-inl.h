// SPDX-License-Identifier: Apache-2.0
/// \file The first step of lanes-inl.h and scout-inl.h: many lanes look, and remember what they
/// found. What its forms share, and the form of this target. Included once for each.
#include <array>
#include <cstring>
#include <utility>

#include "headrace/decode/jpeg/lanes.h"

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

using F = LaneField;

constexpr std::size_t kLaneCount = 32;
constexpr std::size_t kRound = 4;  ///< looks to a window
constexpr std::size_t kTile = 8;   ///< looks to a second step

/// A lane sums up entries from kAdvance on: p in bits 0-7. From kLost on 6 bits are what the window
/// has lost; what is above means nothing.
constexpr std::uint64_t kP = 0xff, kPBelow64 = 0x3f, kPDone = 0xc0;
constexpr unsigned kLost = F::kBitsAgain - F::kAdvance;
static_assert(kSinglesFrom + (kSinglesFrom & -kSinglesFrom) == 64, "all its bits are set: or more");

/// An entry that holds a first value and nothing else, but for the value.
constexpr LaneEntry kOneValue = LaneEntry{1} << F::kFirst;

/// Scouts only want to know where blocks end, and what they begin with.
enum class LookFor { values, ends };

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();

#if HEADRACE_LANES == 512
#include "headrace/decode/jpeg/lanes_looks_avx512-inl.h"
#else
#include "headrace/decode/jpeg/lanes_looks_avx2-inl.h"
#endif
