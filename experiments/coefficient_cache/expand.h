// SPDX-License-Identifier: Apache-2.0
/// \file From the stored form to what the inverse DCT takes. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::coefficients {

/// One row of blocks of a form.
struct BlockRow {
  const std::uint8_t* masks = nullptr;
  const std::uint8_t* dcs = nullptr;
  const std::uint8_t* values = nullptr;
};

/// Writes blocks [first, last) in whole groups of four (kernels.h); what the last group has beyond
/// them becomes zero. `out` is aligned to 64 bytes. Returns how many bytes of values it read.
std::size_t expand_avx512(const BlockRow& row, std::size_t first, std::size_t last,
                          std::int16_t* out);
std::size_t expand_avx2(const BlockRow& row, std::size_t first, std::size_t last,
                        std::int16_t* out);

}  // namespace headrace::coefficients
