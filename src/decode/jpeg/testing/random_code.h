// SPDX-License-Identifier: Apache-2.0
/// \file Huffman codes for tests of tables. Pure.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headrace/base/random.h"
#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg::testing {

/// A code of random lengths, as full as a code may be, with symbols that 8-bit pictures have.
inline HuffmanSpec random_code(Random& random, bool ac) {
  HuffmanSpec spec;
  std::uint32_t free = 2;
  std::size_t used = 0;
  for (unsigned length = 1; length <= 16; ++length, free *= 2) {
    const auto most = std::min<std::uint64_t>(free - 1, ac ? 160 - used : 12 - used);
    const auto count = random.below(std::min<std::uint64_t>(most, length < 4 ? 1 : 8) + 1);
    spec.counts[length] = static_cast<std::uint8_t>(count);
    free -= static_cast<std::uint32_t>(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto run = static_cast<unsigned>(random.below(16));
      const auto size = static_cast<unsigned>(random.below(ac ? 11 : 12));
      spec.symbols[used++] = static_cast<std::uint8_t>(ac ? run << 4U | size : size);
    }
  }
  spec.present = true;
  return spec;
}

}  // namespace headrace::jpeg::testing
