// SPDX-License-Identifier: Apache-2.0
/// \file The weights of one direction of a resize, as Pillow computes and rounds them.
///
/// Not thread-safe; keeps its memory from picture to picture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "headrace/decode/transform.h"

namespace headrace {

/// Output sample i is the sum of `count[i]` input samples from `first[i]` on, each times a weight
/// in fixed point with kBits bits, plus a half, shifted down by kBits, and clipped to a byte.
struct ResizeTable {
  static constexpr int kBits = 22;

  std::uint32_t taps = 0;  ///< weights kept for each output; a multiple of 4, the rest is zero
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
  std::vector<std::int32_t> weights;

  /// Of the outputs begin .. begin + size out of `scaled`, made from `source` samples.
  /// REQUIRES: source, scaled, size > 0; begin + size <= scaled
  void fill(Filter filter, std::uint32_t source, std::uint32_t scaled, std::uint32_t begin,
            std::uint32_t size);
  /// The input samples from `first` up to `second` that `fill` of the same arguments uses.
  static std::pair<std::uint32_t, std::uint32_t> reach(Filter filter, std::uint32_t source,
                                                       std::uint32_t scaled, std::uint32_t begin,
                                                       std::uint32_t size);
  /// Last output first: a flip that costs nothing.
  void reverse();

  /// The input samples that are used: begin() <= i < end(); between them all are.
  std::uint32_t begin() const { return std::min(first.front(), first.back()); }
  std::uint32_t end() const {
    return std::max(first.front() + count.front(), first.back() + count.back());
  }

  std::uint32_t outputs() const { return static_cast<std::uint32_t>(first.size()); }
  const std::int32_t* weights_of(std::size_t output) const {
    return weights.data() + output * taps;
  }

 private:
  void fill_in_lanes(Filter filter, std::uint32_t source, std::uint32_t scaled,
                     std::uint32_t begin);
  void fill_one_by_one(Filter filter, std::uint32_t source, std::uint32_t scaled,
                       std::uint32_t begin);
  void fill_nearest(std::uint32_t source, std::uint32_t scaled, std::uint32_t begin);
  template <class Weight>
  void fill_filtered(Weight weight, double radius, std::uint32_t source, std::uint32_t scaled,
                     std::uint32_t begin);

  std::vector<double> scratch_;
};

}  // namespace headrace
