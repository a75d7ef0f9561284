// SPDX-License-Identifier: Apache-2.0
/// \file The inner loop of the decoder: a run of MCUs from bits to coefficients.
///
/// A pure function of its job; thread-safe. Compiled for each instruction set (Highway), since
/// three-operand shifts alone are worth a tenth.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg {

struct BitState {
  const std::uint8_t* at = nullptr;  ///< the next byte that is not in the window yet
  std::uint64_t window = 0;          ///< the next bits, from the top
  std::uint32_t count = 0;           ///< how many of them are valid
};

struct McuRun {
  struct Part {
    const HuffmanTable* dc = nullptr;
    const HuffmanTable* ac = nullptr;
    std::uint32_t h = 1, v = 1;
    std::int16_t* base = nullptr;
    std::size_t stride = 0;  ///< between rows of blocks
    std::int32_t predictor = 0;
  };
  std::array<Part, 3> components;
  std::uint32_t component_count = 0;
  BitState bits;
  const std::uint8_t* limit = nullptr;  ///< a reader beyond it ran over the end
  bool keep = false;                    ///< false: every block goes to `base`, and means nothing
  std::uint32_t begin = 0, count = 0;   ///< MCUs, counted from `base`
};

/// False at the first code that does not exist, run that leaves its block, or end too early.
bool decode_mcus(McuRun& run);

}  // namespace headrace::jpeg
