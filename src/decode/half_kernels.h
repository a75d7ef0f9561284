// SPDX-License-Identifier: Apache-2.0
/// \file Samples as 16-bit floats: the value that to_float gives (resize_kernels.h), rounded once
/// more, to the nearest, ties to even.
///
/// Thread-safe: functions of their arguments; the same bits on every vector unit.
#pragma once

#include <cstdint>

namespace headrace {

/// IEEE 754 binary16, and the upper half of binary32. What is too large becomes infinite.
std::uint16_t half_of(float value);
std::uint16_t bfloat_of(float value);

void to_half(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
             std::uint16_t* out);
void to_bfloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
               std::uint16_t* out);

}  // namespace headrace
