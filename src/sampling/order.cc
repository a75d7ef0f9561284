// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/order.h"

#include <fmt/format.h>

#include <bit>
#include <cassert>

#include "headrace/base/random.h"

namespace headrace {
namespace {

// Eight rounds: four would do for large sets, but with one or two bits a side the first rounds
// reach few permutations, and small sets are where people look.
constexpr unsigned kRounds = 8;
constexpr std::uint64_t kSubstituteStream = 0x73756273;  // "subs": apart from the order's own keys

std::uint64_t round_value(std::uint64_t key, unsigned round, std::uint64_t half,
                          std::uint64_t mask) {
  return mix64(key ^ mix64((half << 8U) | round)) & mask;
}

}  // namespace

std::string_view to_string(Shuffle shuffle) { return shuffle == Shuffle::none ? "none" : "global"; }

Result<Shuffle> parse_shuffle(std::string_view text) {
  if (text == "none") return Shuffle::none;
  if (text == "global") return Shuffle::global;
  return Error(Code::invalid, fmt::format("unknown shuffle '{}'", text), "known: global, none");
}

Order::Order(Shuffle shuffle, std::uint64_t seed, std::uint64_t epoch, std::uint64_t size)
    : shuffle_(shuffle),
      size_(size),
      half_bits_(size < 2 ? 0 : (static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2),
      key_(mix_key(kOrderVersion, seed, epoch, size)) {}

std::uint64_t Order::forward(std::uint64_t x) const {
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

std::uint64_t Order::backward(std::uint64_t x) const {
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

// The network permutes 4^half_bits numbers, at most four times as many as there are samples.
// Walking its cycle until a number below size_ comes up makes it a permutation of those alone.
std::uint64_t Order::at(std::uint64_t position) const {
  assert(position < size_);
  if (shuffle_ == Shuffle::none || size_ < 2) return position;
  do position = forward(position);
  while (position >= size_);
  return position;
}

std::uint64_t Order::find(std::uint64_t sample) const {
  assert(sample < size_);
  if (shuffle_ == Shuffle::none || size_ < 2) return sample;
  do sample = backward(sample);
  while (sample >= size_);
  return sample;
}

std::uint64_t Order::substitute(std::uint64_t position, unsigned attempt) const {
  assert(position < size_);
  if (size_ < 2) return position;
  // Any other position of the epoch, whoever delivers it: ranks do not matter.
  Random random(mix_key(key_, kSubstituteStream, position, attempt));
  const std::uint64_t step = 1 + random.below(size_ - 1);
  const std::uint64_t left = size_ - position;  // no sum of two positions, which could overflow
  return at(step < left ? position + step : step - left);
}

}  // namespace headrace
