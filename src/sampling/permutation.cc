// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/permutation.h"

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
  return mix64(key ^ mix64((half << 8U) | round)) & mask;
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

std::uint64_t Permutation::find(std::uint64_t value) const {
  assert(value < size_);
  if (size_ < 2) return value;
  do value = backward(value);
  while (value >= size_);
  return value;
}

}  // namespace headrace
