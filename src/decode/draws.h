// SPDX-License-Identifier: Apache-2.0
/// \file What chance decides about one sample: each kind of draw has a stream of its own, so that
/// asking for one more changes none of the others.
///
/// Pure functions. Nothing of libm is used whose last bit differs between versions.
#pragma once

#include <array>
#include <cstdint>

#include "headrace/base/random.h"
#include "headrace/decode/transform.h"

namespace headrace {

/// Python's round: halves go to the even number.
std::int64_t round_half_even(double value);

/// torchvision's RandomResizedCrop: area 0.08–1, ratio 3/4–4/3, ten tries, then the centre.
Box random_box(Random& random, std::uint32_t width, std::uint32_t height);

/// torchvision's RandomErasing in an output of that size: area 0.02–0.33, ratio 0.3–3.3, ten tries,
/// then none (width 0).
Box draw_erasing(float probability, const SampleKey& key, std::uint32_t width,
                 std::uint32_t height);

DrawnJitter draw_jitter(const Jitter& jitter, const SampleKey& key);

/// MXNet's random_h 36, random_l 50, random_s 50.
HlsShift draw_hls(const SampleKey& key);

/// MXNet's max_rotate_angle 10, max_shear_ratio 0.1, max_aspect_ratio 0.25, of a picture of that
/// size about its centre.
std::array<float, 6> draw_warp(const SampleKey& key, std::uint32_t width, std::uint32_t height);

}  // namespace headrace
