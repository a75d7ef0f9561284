// SPDX-License-Identifier: Apache-2.0
/// \file Bytes that tell where they are from, so that a wrong range or object cannot pass.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/base/random.h"

namespace headrace::testing {

/// Byte i depends on `seed` and i alone.
inline std::string pattern(std::uint64_t seed, std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) {
    text[i] = static_cast<char>(mix_key(seed, i / 8) >> (8 * (i % 8)));
  }
  return text;
}

}  // namespace headrace::testing
