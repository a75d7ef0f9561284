// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/huffman.h"

#include <algorithm>

namespace headrace::jpeg {
namespace {

constexpr std::uint32_t kEndOfBlock = 64;  ///< an advance that leaves the block

/// Fills the entries of one code: `at` is the first look that begins with it, `spare` how many
/// bits of the look it leaves.
void fill_code(FastEntry* at, HuffmanTable::Kind kind, unsigned symbol, unsigned length,
               unsigned spare) {
  const bool ac = kind == HuffmanTable::Kind::ac;
  const unsigned size = ac ? symbol & 15U : symbol;
  const unsigned run = ac ? symbol >> 4U : 0;
  if (size == 0) {
    const bool end = ac && run != 15;  // longer end-of-band runs are for progressive pictures
    std::fill_n(at, std::size_t{1} << spare, length | ((end ? kEndOfBlock : run + 1) << 8U));
  } else if (size > spare) {
    std::fill_n(at, std::size_t{1} << spare, (length << 8U) | (symbol << 16U));
  } else {
    const std::size_t repeats = std::size_t{1} << (spare - size);
    for (std::uint32_t bits = 0; bits < (1U << size); ++bits, at += repeats) {
      const auto value = static_cast<std::uint16_t>(extend(bits, size));
      std::fill_n(at, repeats,
                  (length + size) | ((run + 1) << 8U) | (static_cast<std::uint32_t>(value) << 16U));
    }
  }
}

}  // namespace

bool HuffmanTable::build(const HuffmanSpec& spec, Kind kind) {
  if (spec.counts == built_.counts && spec.symbols == built_.symbols && kind == kind_ &&
      built_.present) {
    return true;  // most pictures of a set share their tables, or one picture's two do
  }
  built_ = {};
  fast_.fill(0);
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const std::uint32_t count = spec.counts[length];
    value_offset_[length] = index - static_cast<std::int32_t>(code);
    for (std::uint32_t i = 0; i < count; ++i, ++code, ++index) {
      if (code >= (1U << length)) return false;
      if (length > kLookBits) continue;
      const unsigned spare = kLookBits - length;
      fill_code(&fast_[code << spare], kind, spec.symbols[static_cast<std::size_t>(index)], length,
                spare);
    }
    max_code_[length] = count == 0 ? -1 : static_cast<std::int32_t>(code) - 1;
    code <<= 1U;
  }
  built_ = spec;
  built_.present = true;
  kind_ = kind;
  return true;
}

HuffmanTable::Code HuffmanTable::find(std::uint32_t bits16) const {
  for (unsigned length = 1; length <= 16; ++length) {
    const auto code = static_cast<std::int32_t>(bits16 >> (16U - length));
    if (code <= max_code_[length]) {
      const std::int32_t index = code + value_offset_[length];
      if (index < 0) break;
      return {static_cast<std::uint8_t>(length),
              built_.symbols[static_cast<std::size_t>(index) & 255U]};
    }
  }
  return {};
}

}  // namespace headrace::jpeg
