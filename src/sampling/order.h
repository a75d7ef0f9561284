// SPDX-License-Identifier: Apache-2.0
/// \file Which sample stands at which position of which epoch: arithmetic, no memory, no I/O.
///
/// Values and pure functions; thread-safe. A keyed permutation (a Feistel network on the
/// smallest even number of bits that holds n, with cycle walking): random access both ways, so
/// resume is a position and a shard is arithmetic. tests/data/golden_order.txt fixes it for ever;
/// a change needs a new `version`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "headrace/base/result.h"

namespace headrace {

enum class Shuffle { none, global };

std::string_view to_string(Shuffle shuffle);
Result<Shuffle> parse_shuffle(std::string_view text);

inline constexpr int kOrderVersion = 1;
inline constexpr unsigned kSubstituteAttempts = 8;

/// One epoch's order of `size` samples.
class Order {
 public:
  Order(Shuffle shuffle, std::uint64_t seed, std::uint64_t epoch, std::uint64_t size);

  std::uint64_t size() const { return size_; }
  /// The sample at a global position. REQUIRES: position < size()
  std::uint64_t at(std::uint64_t position) const;
  /// The position of a sample: the inverse. REQUIRES: sample < size()
  std::uint64_t find(std::uint64_t sample) const;
  /// The sample that stands in for the one at `position`, at the attempt-th try: any other one
  /// of the epoch, whichever rank delivers it; itself only if it is the only one.
  std::uint64_t substitute(std::uint64_t position, unsigned attempt) const;

 private:
  std::uint64_t forward(std::uint64_t x) const;
  std::uint64_t backward(std::uint64_t x) const;

  Shuffle shuffle_;
  std::uint64_t size_;
  unsigned half_bits_ = 0;
  std::uint64_t key_;
};

}  // namespace headrace
