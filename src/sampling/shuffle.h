// SPDX-License-Identifier: Apache-2.0
/// \file How an epoch's order comes about, and its text, the same on the command line, in Python,
/// in experiment files and in states:
///
///     none             the canonical order
///     global           every sample may stand anywhere: the default
///     blocks           as blocks:256x64
///     blocks:256x64    runs of 256 samples change places, then 64 runs at a time are mixed: reads
///                      stay long, at the price of a weaker shuffle (mixing.h measures it)
///     node:4           each of 4 nodes keeps its own part of the set in every epoch, and shuffles
///                      that: so its cache holds what it needs from the second epoch on
///     node             as node:N, with N as the launcher says
///     balanced         every class comes equally often, rare ones again and again: an epoch is as
///                      long as the set, but does not have each sample once
///
/// Values; thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

class ClassTable;
class Selection;

struct Shuffle {
  enum class Scheme { none, global, blocks, node, balanced };
  Scheme scheme = Scheme::global;
  std::uint64_t block = 0;   ///< blocks: samples in a run
  std::uint64_t window = 0;  ///< blocks: runs that are mixed
  std::uint64_t nodes = 0;   ///< node: how many; 0: not known yet
  /// node: samples of one step over all ranks, which decide whose turn a position is. Whoever has
  /// a plan sets it; it is not in the text.
  std::uint64_t step = 0;
  /// balanced: who has the set lends it; it must outlive every Order. Not in the text either.
  const ClassTable* classes = nullptr;
  /// What the epoch consists of, if not of each sample once; lent in the same way.
  const Selection* selection = nullptr;

  static const Shuffle none;
  static const Shuffle global;
  bool operator==(const Shuffle&) const = default;
};

inline constexpr Shuffle Shuffle::none{.scheme = Shuffle::Scheme::none};
inline constexpr Shuffle Shuffle::global{.scheme = Shuffle::Scheme::global};

std::string to_string(const Shuffle& shuffle);
/// `invalid` names what is known.
Result<Shuffle> parse_shuffle(std::string_view text);

/// The shuffle for steps of so many samples over all ranks.
///  * `invalid`   node: their number is not known, or a step is no whole number for each
Result<Shuffle> with_step(Shuffle shuffle, std::uint64_t step);

/// Whether an epoch in this order can have some samples more often than others.
///  * `invalid`   node, whose parts would not stay; balanced, which is a selection itself
Result<void> check_selectable(const Shuffle& shuffle);

}  // namespace headrace
