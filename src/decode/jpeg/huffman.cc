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

bool HuffmanCode::is(const HuffmanSpec& spec) const {
  return spec_.present && spec_.counts == spec.counts && spec_.symbols == spec.symbols;
}

bool HuffmanCode::build(const HuffmanSpec& spec) {
  spec_ = {};
  std::uint32_t code = 0;
  std::int32_t index = 0;
  for (unsigned length = 1; length <= 16; ++length) {
    const std::uint32_t count = spec.counts[length];
    value_offset_[length] = index - static_cast<std::int32_t>(code);
    code += count;
    index += static_cast<std::int32_t>(count);
    if (count != 0 && code >= (1U << length)) return false;  // as libjpeg has it: none is all ones
    end_[length - 1] = static_cast<std::uint16_t>(code << (16U - length));
    code <<= 1U;
  }
  spec_ = spec;
  spec_.present = true;
  return true;
}

Symbol HuffmanCode::find(std::uint32_t bits16) const {
  unsigned length = 1;  // counted without a branch: codes ascend with their lengths
  for (const std::uint16_t end : end_) length += bits16 >= end ? 1U : 0U;
  if (length > 16) return {};
  const auto code = static_cast<std::int32_t>(bits16 >> (16U - length));
  const std::int32_t index = code + value_offset_[length];
  return {static_cast<std::uint8_t>(length), spec_.symbols[static_cast<std::size_t>(index) & 255U]};
}

bool HuffmanTable::build(const HuffmanSpec& spec, Kind kind) {
  if (code_.is(spec) && kind == kind_) return true;
  if (!code_.build(spec)) return false;
  kind_ = kind;
  FastEntry* to = fast_.data();  // codes ascend, so the entries are written from the first on
  std::size_t index = 0;
  for (unsigned length = 1; length <= kLookBits; ++length) {
    for (unsigned i = 0; i < spec.counts[length]; ++i) {
      to = std::fill_n(to, std::size_t{1} << (kLookBits - length),
                       entry_for(kind, spec.symbols[index++], length));
    }
  }
  std::fill(to, fast_.data() + fast_.size(), kSlow << 8U);
  return true;
}

}  // namespace headrace::jpeg
