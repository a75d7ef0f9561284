// SPDX-License-Identifier: Apache-2.0
/// \file Which sample stands at which position of which epoch: arithmetic, no memory, no I/O.
///
/// Values and pure functions; thread-safe. Keyed permutations give random access both ways, so
/// resume is a position and a shard is arithmetic. tests/data/golden_order.txt fixes every scheme
/// for ever; a change needs a new `version`.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/sampling/permutation.h"
#include "headrace/sampling/shuffle.h"

namespace headrace {

inline constexpr int kOrderVersion = 1;
inline constexpr unsigned kSubstituteAttempts = 8;

/// One epoch's order of `size` samples.
///
/// *blocks*: the samples are cut into runs of `block`; whole runs change places, a shorter last one
/// goes between any two; then each stretch of `window` runs is mixed.
///
/// *node*: a permutation that no epoch changes deals the samples out to the nodes. Of each step's
/// positions node i has the i-th part, as ranks that are numbered node by node have; there its own
/// samples stand, in an order of the epoch. The incomplete step is shared out by nodes, so where
/// the tail is shared out by ranks a few samples of it may be delivered by a neighbour.
///
/// *balanced*: positions are cut into rounds of as many as there are classes; each round has every
/// class once, in an order of its own. A class gives its samples in an order of the epoch, and
/// again in another one when all had their turn.
///
/// With a selection (selection.h) an order is one of the epoch's draws, of which a sample may have
/// several, or none; `global`, `blocks` and `none` have one.
class Order {
 public:
  /// REQUIRES: with_step gave the shuffle its step, if its scheme is node; its classes are there,
  /// if it is balanced; `size` is that of its selection, if it has one
  Order(const Shuffle& shuffle, std::uint64_t seed, std::uint64_t epoch, std::uint64_t size);

  std::uint64_t size() const { return all_.size(); }
  /// The sample at a global position. REQUIRES: position < size()
  std::uint64_t at(std::uint64_t position) const;
  /// The same of many, in their place, in less time: what `at` gives for each. REQUIRES: each <
  /// size()
  void at(std::span<std::uint64_t> positions) const;
  /// The position of a sample: the inverse. REQUIRES: sample < size(), the scheme is not balanced,
  /// there is no selection
  std::uint64_t find(std::uint64_t sample) const;
  /// The sample that stands in for the one at `position`, at the attempt-th try: any other one
  /// of the epoch, whichever rank delivers it; itself only if it is the only one.
  std::uint64_t substitute(std::uint64_t position, unsigned attempt) const;
  /// node: whose part a position is in. REQUIRES: the scheme is node, position < size()
  std::uint64_t node_of(std::uint64_t position) const;

 private:
  /// A place in one node's part of the set.
  struct OfNode {
    std::uint64_t node;
    std::uint64_t index;
  };

  std::uint64_t shuffled(std::uint64_t position) const;

  std::uint64_t in_blocks(std::uint64_t position) const;
  std::uint64_t find_in_blocks(std::uint64_t sample) const;
  Permutation of_window(std::uint64_t window) const;
  std::uint64_t short_run_begin() const;

  std::uint64_t by_class(std::uint64_t position) const;

  OfNode of_node(std::uint64_t position) const;
  std::uint64_t position_of(const OfNode& place) const;
  std::uint64_t node_begin(std::uint64_t node) const;
  Permutation of_epoch(std::uint64_t node) const;

  Shuffle shuffle_;
  std::uint64_t key_;
  Permutation all_;          ///< global: the order; node: who has what, the same in every epoch
  Permutation runs_;         ///< blocks
  std::uint64_t shift_ = 0;  ///< of the selection's points
};

}  // namespace headrace
