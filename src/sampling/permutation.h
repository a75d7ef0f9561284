// SPDX-License-Identifier: Apache-2.0
/// \file A keyed permutation of 0 … n − 1 in no memory, walked both ways: a Feistel network on the
/// smallest even number of bits that holds n, with cycle walking.
///
/// A value; thread-safe.
#pragma once

#include <cstdint>
#include <span>

namespace headrace {

class Permutation {
 public:
  Permutation(std::uint64_t key, std::uint64_t size);

  std::uint64_t size() const { return size_; }
  /// What stands at a position. REQUIRES: position < size()
  std::uint64_t at(std::uint64_t position) const;
  /// The same of many, in their place: several at once, which hide each other's latency, so that
  /// one costs a fraction of a call. REQUIRES: each < size()
  void at(std::span<std::uint64_t> positions) const;
  /// The inverse. REQUIRES: value < size()
  std::uint64_t find(std::uint64_t value) const;

 private:
  std::uint64_t forward(std::uint64_t x) const;
  std::uint64_t backward(std::uint64_t x) const;

  std::uint64_t key_;
  std::uint64_t size_;
  unsigned half_bits_;
};

}  // namespace headrace
