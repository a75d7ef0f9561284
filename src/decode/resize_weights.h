// SPDX-License-Identifier: Apache-2.0
/// \file The weights of one direction of a resize for several outputs at a time, for the filters
/// that need arithmetic alone: box, bilinear, bicubic.
///
/// Thread-safe: functions of their arguments; the same numbers on every vector unit and as
/// resize_table.cc computes one by one, since each output's operations and their order are the
/// same (Pillow's precompute_coeffs and normalize_coeffs_8bpc) and doubles are rounded alike.
#pragma once

#include <cstdint>
#include <span>

#include "headrace/decode/transform.h"

namespace headrace {

/// Outputs begin .. of a resize of `source` samples.
struct ResizeGeometry {
  double scale = 1;         ///< source samples an output
  double filter_scale = 1;  ///< the same, but at least 1
  double support = 0;       ///< of the filter, in source samples
  std::uint32_t source = 0;
  std::uint32_t begin = 0;
};

/// Fewer outputs, or more source samples, are not for these functions.
inline constexpr std::uint32_t kLeastOutputs = 8;
inline constexpr std::uint32_t kMostSource = 1U << 24U;

/// Whether `weights_in_lanes` knows it.
constexpr bool has_lanes(Filter filter) {
  return filter == Filter::box || filter == Filter::bilinear || filter == Filter::bicubic;
}

/// The first input of each output and how many there are.
/// REQUIRES: as many of both, kLeastOutputs at least; g.source <= kMostSource
void inputs_in_lanes(const ResizeGeometry& g, std::span<std::uint32_t> first,
                     std::span<std::uint32_t> count);

/// `most` weights of each output in fixed point with `bits` bits, a row of `taps` for each; those
/// behind `count` are 0. `scratch` holds 8 · most.
/// REQUIRES: has_lanes(filter); first and count as inputs_in_lanes makes them, none above `most`
void weights_in_lanes(Filter filter, const ResizeGeometry& g, std::span<const std::uint32_t> first,
                      std::span<const std::uint32_t> count, std::uint32_t most, int bits,
                      std::span<double> scratch, std::uint32_t taps, std::int32_t* weights);

}  // namespace headrace
