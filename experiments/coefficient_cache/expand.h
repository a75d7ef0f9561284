// SPDX-License-Identifier: Apache-2.0
/// \file From the stored form to what the inverse DCT takes. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace headrace::coefficients {

/// One row of blocks of a form.
struct BlockRow {
  const std::uint8_t* masks = nullptr;
  const std::uint8_t* dcs = nullptr;
  const std::uint8_t* values = nullptr;
  std::size_t size = 0;  ///< of the values, in bytes
};

/// Writes blocks [first, last) in whole groups of four (kernels.h); what the last group has beyond
/// them becomes zero. `out` is aligned to 64 bytes. Returns how many bytes of values it took;
/// nothing: the masks tell of more than there are.
std::optional<std::size_t> expand_avx512(const BlockRow& row, std::size_t first, std::size_t last,
                                         std::int16_t* out);
std::optional<std::size_t> expand_avx2(const BlockRow& row, std::size_t first, std::size_t last,
                                       std::int16_t* out);

}  // namespace headrace::coefficients
