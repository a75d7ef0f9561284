// SPDX-License-Identifier: Apache-2.0
/// \file The steps that the inner loop of mcu_run.cc is made of, compiled for each instruction set.

#if defined(HEADRACE_DECODE_JPEG_BITS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_DECODE_JPEG_BITS_INL_H_
#undef HEADRACE_DECODE_JPEG_BITS_INL_H_
#else
#define HEADRACE_DECODE_JPEG_BITS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "headrace/decode/jpeg/huffman.h"
#include "headrace/decode/jpeg/places.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

/// The value of an entry, T.81 F.2.2.1 EXTEND: with a first bit of 0 it is negative. Without a
/// branch; 0 for a size of 0.
HWY_INLINE std::int32_t value_of(std::uint64_t window, FastEntry entry) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  const auto bits = static_cast<std::int32_t>(__builtin_ia32_bextr_u64(window, entry >> 16U));
#else
  const std::uint64_t mask = (std::uint64_t{1} << (entry >> 24U)) - 1;
  const auto bits = static_cast<std::int32_t>((window >> ((entry >> 16U) & 63U)) & mask);
#endif
  const std::int32_t range = 1 << (entry >> 24U);
  return 2 * bits < range ? bits - range + 1 : bits;
}

/// The entry of a code longer than the look; an advance of 0 if there is no such code.
static HWY_NOINLINE FastEntry long_code(std::uint64_t window, const HuffmanTable& table, bool ac) {
  const auto code = table.find(static_cast<std::uint32_t>(window >> 48U));
  return code.length == 0 ? 0
                          : entry_for(ac ? HuffmanTable::Kind::ac : HuffmanTable::Kind::dc,
                                      code.symbol, code.length);
}

/// Afterwards at least 56 bits are valid, and the 8 below them are right as well.
HWY_INLINE void refill(const std::uint8_t*& at, std::uint64_t& window, std::uint32_t& count) {
  window |= load_big_endian(at) >> count;
  at += (63 - count) >> 3U;
  count |= 56U;
}

HWY_INLINE FastEntry look(const FastEntry* table, std::uint64_t window) {
  return table[window >> (64U - kLookBits)];
}

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HEADRACE_DECODE_JPEG_BITS_INL_H_
