// SPDX-License-Identifier: Apache-2.0
/// \file What a JPEG says before its entropy-coded data, for the pictures that the fast decoder
/// takes: baseline and extended-sequential Huffman, 8 bit, one interleaved scan.
///
/// A pure function of the bytes; thread-safe. Format: ITU-T T.81, annex B. Everything unusual is
/// left to libjpeg-turbo: `parse` says no, and why, and the caller falls back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace::jpeg {

/// Lengths and symbols as in the DHT segment.
struct HuffmanSpec {
  std::array<std::uint8_t, 17> counts{};  ///< counts[length], 1 … 16
  std::array<std::uint8_t, 256> symbols{};
  bool present = false;
};

struct Component {
  std::uint8_t id = 0;
  std::uint32_t h = 1, v = 1;  ///< sampling factors
  std::uint8_t quant = 0, dc = 0, ac = 0;
};

struct Headers {
  std::uint32_t width = 0, height = 0;
  std::uint32_t component_count = 0;  ///< 1 (grey) or 3 (YCbCr)
  std::array<Component, 3> components;
  /// Quantisation factors in natural (row, column) order.
  std::array<std::array<std::uint16_t, 64>, 4> quant{};
  std::array<HuffmanSpec, 4> dc, ac;
  std::uint32_t restart_interval = 0;  ///< in MCUs; 0 = none
  std::size_t scan_begin = 0;          ///< offset of the first entropy-coded byte
};

/// Natural-order index of the k-th coefficient of the zigzag.
inline constexpr std::array<std::uint8_t, 64> kNaturalOrder = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48,
    41, 34, 27, 20, 13, 6,  7,  14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23,
    30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

constexpr std::uint32_t divide_up(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

struct ParseOutcome {
  std::optional<Headers> headers;
  std::string_view why;  ///< if not: "progressive", "CMYK", …
};

ParseOutcome parse(ByteSpan bytes);

}  // namespace headrace::jpeg
