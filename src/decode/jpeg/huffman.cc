// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg {
namespace {

constexpr std::uint32_t kEndOfBlock = 64;  ///< an advance that leaves the block

FastEntry entry_for(HuffmanTable::Kind kind, unsigned symbol, unsigned length, std::uint32_t rest) {
  // `rest` = the bits of the look behind the code, kLookBits - length of them.
  const unsigned size = kind == HuffmanTable::Kind::ac ? symbol & 15U : symbol;
  const unsigned run = kind == HuffmanTable::Kind::ac ? symbol >> 4U : 0;
  if (size == 0) {
    const bool end =
        kind == HuffmanTable::Kind::ac && run != 15;  // EOBn does not occur here: same as EOB
    return length | ((end ? kEndOfBlock : run + 1) << 8U);
  }
  if (length + size > kLookBits) return (length << 8U) | (symbol << 16U);
  const std::uint32_t bits = rest >> (kLookBits - length - size);
  const auto value = static_cast<std::uint16_t>(extend(bits, size));
  return (length + size) | ((run + 1) << 8U) | (static_cast<std::uint32_t>(value) << 16U);
}

}  // namespace

bool HuffmanTable::build(const HuffmanSpec& spec, Kind kind) {
  fast_.fill(0);
  symbols_ = spec.symbols;
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const std::uint32_t count = spec.counts[length];
    value_offset_[length] = index - static_cast<std::int32_t>(code);
    for (std::uint32_t i = 0; i < count; ++i, ++code, ++index) {
      if (code >= (1U << length)) return false;
      if (length > kLookBits) continue;
      const unsigned spare = kLookBits - length;
      for (std::uint32_t rest = 0; rest < (1U << spare); ++rest) {
        fast_[(code << spare) | rest] =
            entry_for(kind, symbols_[static_cast<std::size_t>(index)], length, rest);
      }
    }
    max_code_[length] = count == 0 ? -1 : static_cast<std::int32_t>(code) - 1;
    code <<= 1U;
  }
  return true;
}

HuffmanTable::Code HuffmanTable::find(std::uint32_t bits16) const {
  for (unsigned length = 1; length <= 16; ++length) {
    const auto code = static_cast<std::int32_t>(bits16 >> (16U - length));
    if (code <= max_code_[length]) {
      const std::int32_t index = code + value_offset_[length];
      if (index < 0) break;
      return {static_cast<std::uint8_t>(length), symbols_[static_cast<std::size_t>(index) & 255U]};
    }
  }
  return {};
}

}  // namespace headrace::jpeg
