// SPDX-License-Identifier: Apache-2.0
/// \file A JPEG's quantised coefficients in a form that expands without Huffman decoding.
///
/// Bytes, in this order: the JPEG's own headers (everything before the scan, padded to 8 bytes);
/// an offset of 4 bytes for each row of blocks, and of the end; the rows of blocks: MCU row by MCU
/// row, in it component by component. Each row begins at a multiple of 8 and holds, for its n
/// blocks:
///
///     n x 8 bytes   which AC coefficients are not zero, a bit each, in the order of the inverse
///                   DCT (kernels.h: place_in_block). Bit 0, the DC's, says instead that this
///                   block's values are wide
///     n x 2 bytes   DC
///     the values    of one block after the other: a signed byte each; of a wide block, two bytes
///
/// So a row's masks tell where every block's values begin: columns are skipped by adding up
/// population counts. Little-endian; kSlack bytes of zeros at the end.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/jpeg/headers.h"

namespace headrace::coefficients {

inline constexpr std::size_t kSlack = 128;  ///< what expanding loads at once beyond the last value

struct Form {
  std::vector<std::uint8_t> bytes;
  std::size_t headers = 0;  ///< bytes of the JPEG's headers
  std::uint64_t blocks = 0, wide = 0, values = 0;

  std::size_t table() const { return (headers + 7) / 8 * 8; }
  std::size_t offset(std::size_t row) const {
    std::uint32_t at = 0;
    std::memcpy(&at, bytes.data() + table() + row * 4, sizeof at);
    return at;
  }
};

/// Reads the whole JPEG in order. Nothing: not one that our own decoder takes, or not clean.
std::optional<Form> make_form(ByteSpan jpeg);

/// How many rows of blocks lie before this one of the MCU row's component.
inline std::size_t row_number(const jpeg::Headers& headers, std::uint32_t mcu_row,
                              std::uint32_t component, std::uint32_t y) {
  std::size_t before = 0, each = 0;
  for (std::uint32_t i = 0; i < headers.component_count; ++i) {
    if (i == component) before = each;
    each += headers.components[i].v;
  }
  return mcu_row * each + before + y;
}

}  // namespace headrace::coefficients
