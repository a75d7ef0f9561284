// SPDX-License-Identifier: Apache-2.0
/// \file CRC32C (Castagnoli), by the processor's instruction where it has one; and TFRecord's mask.
///
/// Pure functions. Own code, since no CRC32C library is packaged (docs/DEPENDENCIES.md).
#pragma once

#include <cstdint>

#include "headrace/base/bytes.h"

namespace headrace {

/// Of what `before` is the CRC of, followed by `bytes`.
std::uint32_t crc32c(ByteSpan bytes, std::uint32_t before = 0);

/// The same without the instruction: for processors that lack it, and for tests.
std::uint32_t crc32c_portable(ByteSpan bytes, std::uint32_t before = 0);

/// As TFRecord stores it, so that a CRC over data that hold CRCs is still worth something.
constexpr std::uint32_t masked(std::uint32_t crc) {
  return ((crc >> 15U) | (crc << 17U)) + 0xa282ead8U;
}
inline std::uint32_t masked_crc32c(ByteSpan bytes) { return masked(crc32c(bytes)); }

}  // namespace headrace
