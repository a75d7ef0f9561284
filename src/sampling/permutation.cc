// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/permutation.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

#include "headrace/base/random.h"

namespace headrace {
namespace {

// Eight rounds: four would do for large sets, but with one or two bits a side the first rounds
// reach few permutations, and small sets are where people look.
constexpr unsigned kRounds = 8;

std::uint64_t round_value(std::uint64_t key, unsigned round, std::uint64_t half,
                          std::uint64_t mask) {
  return mix64(key ^ mix64((half << 8U) + round)) & mask;
}

// One network is a chain of 32 multiplications, each waiting for the one before; eight chains side
// by side keep a core's multiplier busy.
constexpr std::size_t kLanes = 8;
constexpr std::size_t kTogether = 256;
using Lanes = std::array<std::uint64_t, kLanes>;

/// Permutation::forward of each lane. Two rounds at a time, so that the halves need not change
/// sides.
void forward_all(std::uint64_t key, unsigned half_bits, std::uint64_t mask, Lanes& x) {
  static_assert(kRounds % 2 == 0);
  Lanes left{};
  Lanes right{};
  for (std::size_t k = 0; k < kLanes; ++k) {
    left[k] = x[k] >> half_bits;
    right[k] = x[k] & mask;
  }
  for (unsigned round = 0; round < kRounds; round += 2) {
    for (std::size_t k = 0; k < kLanes; ++k) left[k] ^= round_value(key, round, right[k], mask);
    for (std::size_t k = 0; k < kLanes; ++k) right[k] ^= round_value(key, round + 1, left[k], mask);
  }
  for (std::size_t k = 0; k < kLanes; ++k) x[k] = (left[k] << half_bits) | right[k];
}

}  // namespace

Permutation::Permutation(std::uint64_t key, std::uint64_t size)
    : key_(key),
      size_(size),
      half_bits_(size < 2 ? 0 : (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2) {}

std::uint64_t Permutation::forward(std::uint64_t x) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = x >> half_bits_;
  std::uint64_t right = x & mask;
  for (unsigned round = 0; round < kRounds; ++round) {
    const std::uint64_t next = left ^ round_value(key_, round, right, mask);
    left = right;
    right = next;
  }
  return (left << half_bits_) | right;
}

std::uint64_t Permutation::backward(std::uint64_t x) const {
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::uint64_t left = x >> half_bits_;
  std::uint64_t right = x & mask;
  for (unsigned round = kRounds; round-- > 0;) {
    const std::uint64_t before = right ^ round_value(key_, round, left, mask);
    right = left;
    left = before;
  }
  return (left << half_bits_) | right;
}

// The network permutes 4^half_bits numbers, at most four times as many as there are values.
// Walking its cycle until a number below size_ comes up makes it a permutation of those alone.
std::uint64_t Permutation::at(std::uint64_t position) const {
  assert(position < size_);
  if (size_ < 2) return position;
  do position = forward(position);
  while (position >= size_);
  return position;
}

void Permutation::at(std::span<std::uint64_t> positions) const {
  if (size_ < 2) return;
  const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
  std::array<std::uint8_t, kTogether> walking{};
  for (std::size_t begin = 0; begin < positions.size(); begin += kTogether) {
    const auto here = positions.subspan(begin, std::min(kTogether, positions.size() - begin));
    std::size_t count = here.size();
    for (std::size_t i = 0; i < count; ++i) walking[i] = static_cast<std::uint8_t>(i);
    while (count != 0) {  // those that have left the set walk on, and become fewer
      std::size_t still = 0;
      for (std::size_t i = 0; i < count; i += kLanes) {
        const std::size_t lanes = std::min(kLanes, count - i);
        Lanes x{};
        for (std::size_t k = 0; k < lanes; ++k) x[k] = here[walking[i + k]];
        forward_all(key_, half_bits_, mask, x);
        for (std::size_t k = 0; k < lanes; ++k) {
          const std::uint8_t place = walking[i + k];
          here[place] = x[k];
          walking[still] = place;
          still += x[k] >= size_ ? 1 : 0;
        }
      }
      count = still;
    }
  }
}

std::uint64_t Permutation::find(std::uint64_t value) const {
  assert(value < size_);
  if (size_ < 2) return value;
  do value = backward(value);
  while (value >= size_);
  return value;
}

}  // namespace headrace
