// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/huffman.h"

#include <algorithm>

namespace headrace::jpeg {
FastEntry entry_for(HuffmanTable::Kind kind, unsigned symbol, unsigned length) {
  const bool ac = kind == HuffmanTable::Kind::ac;
  const unsigned size = ac ? symbol & 15U : symbol;
  const unsigned run = ac ? symbol >> 4U : 0;
  // Longer end-of-band runs are for progressive pictures; here they end the block, as EOB does.
  const unsigned advance = ac && size == 0 && run != 15 ? kEndOfBlock : run + 1;
  return (length + size) | (advance << 8U) | ((64 - length - size) << 16U) | (size << 24U);
}

bool HuffmanTable::build(const HuffmanSpec& spec, Kind kind) {
  if (spec.counts == built_.counts && spec.symbols == built_.symbols && kind == kind_ &&
      built_.present) {
    return true;  // most pictures of a set share their tables, or one picture's two do
  }
  built_ = {};
  fast_.fill(kSlow << 8U);
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const std::uint32_t count = spec.counts[length];
    value_offset_[length] = index - static_cast<std::int32_t>(code);
    for (std::uint32_t i = 0; i < count; ++i, ++code, ++index) {
      if (code >= (1U << length)) return false;
      if (length > kLookBits) continue;
      const unsigned spare = kLookBits - length;
      std::fill_n(&fast_[code << spare], std::size_t{1} << spare,
                  entry_for(kind, spec.symbols[static_cast<std::size_t>(index)], length));
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
