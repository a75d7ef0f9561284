// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/mcu_run.h"

#include <cstring>

#include "headrace/decode/jpeg/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/mcu_run.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#ifndef HEADRACE_DECODE_JPEG_MCU_RUN_ONCE
#define HEADRACE_DECODE_JPEG_MCU_RUN_ONCE
namespace headrace::jpeg {

/// Where the coefficient goes that makes the index k: it stands at k - 1 of the zigzag. Beyond
/// the block the entries hold a zero, which goes to the last coefficient's place: that is zero.
struct Places {
  std::array<std::uint16_t, 256> offset{};
};
constexpr Places make_places() {
  Places places;
  for (std::size_t k = 0; k < places.offset.size(); ++k) {
    const unsigned natural = kNaturalOrder[k >= 1 && k <= 64 ? k - 1 : 63];
    places.offset[k] = static_cast<std::uint16_t>(natural / 8 * 32 + natural % 8);
  }
  return places;
}
inline constexpr Places kPlaces = make_places();

inline std::uint64_t load_big_endian(const std::uint8_t* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return __builtin_bswap64(word);
}

/// Afterwards at least 56 bits are valid, and the 8 below them are right as well.
inline void refill(BitState& b) {
  b.window |= load_big_endian(b.at) >> b.count;
  b.at += (63 - b.count) >> 3U;
  b.count |= 56U;
}

}  // namespace headrace::jpeg
#endif

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
HWY_NOINLINE FastEntry long_code(std::uint64_t window, const HuffmanTable& table, bool ac) {
  const auto code = table.find(static_cast<std::uint32_t>(window >> 48U));
  return code.length == 0 ? 0
                          : entry_for(ac ? HuffmanTable::Kind::ac : HuffmanTable::Kind::dc,
                                      code.symbol, code.length);
}

HWY_INLINE bool decode_block(BitState& bits, const HuffmanTable& dc, const HuffmanTable& ac,
                             std::int32_t& predictor, std::int16_t* HWY_RESTRICT out) {
  BitState b = bits;
  refill(b);
  FastEntry entry = dc.fast_table()[b.window >> (64U - kLookBits)];
  if (HWY_UNLIKELY(advance_of(entry) == kSlow)) {
    entry = long_code(b.window, dc, false);
    if (advance_of(entry) == 0) return false;
  }
  predictor += value_of(b.window, entry);
  b.window <<= entry & 63U;
  b.count -= entry & 63U;
  if (predictor != static_cast<std::int16_t>(predictor)) return false;
  out[0] = static_cast<std::int16_t>(predictor);

  const FastEntry* const table = ac.fast_table();
  std::uint32_t k = 1;
  const auto take = [&]() HWY_ATTR {
    k += advance_of(entry);
    out[kPlaces.offset[k]] = static_cast<std::int16_t>(value_of(b.window, entry));
    b.window <<= entry & 63U;
    b.count -= entry & 63U;
  };
  for (;;) {
    do {  // a look and its value take 22 bits at most, 6 on average: four to a refill of 56
      refill(b);
      entry = table[b.window >> (64U - kLookBits)];
      take();
      if (HWY_UNLIKELY(k >= 64)) break;
      entry = table[b.window >> (64U - kLookBits)];
      take();
      if (HWY_UNLIKELY(k >= 64)) break;
      if (HWY_UNLIKELY(b.count < 22)) continue;
      entry = table[b.window >> (64U - kLookBits)];
      take();
      if (HWY_UNLIKELY(k >= 64)) break;
      if (HWY_UNLIKELY(b.count < 22)) continue;
      entry = table[b.window >> (64U - kLookBits)];
      take();
    } while (HWY_LIKELY(k < 64));
    const std::uint32_t advance = advance_of(entry);
    if (HWY_LIKELY(advance != kSlow)) {
      bits = b;
      return k == 64 || advance == kEndOfBlock;  // else: a run that leaves the block
    }
    k -= kSlow;
    refill(b);
    entry = long_code(b.window, ac, true);
    if (advance_of(entry) == 0) return false;
    take();
    if (k >= 64) {
      bits = b;
      return k == 64 || advance_of(entry) == kEndOfBlock;
    }
  }
}

template <bool kKeep>
HWY_INLINE bool decode_all(McuRun& run) {
  BitState bits = run.bits;
  for (std::uint32_t mcu = run.begin; mcu < run.begin + run.count; ++mcu) {
    for (std::uint32_t i = 0; i < run.component_count; ++i) {
      McuRun::Part& c = run.components[i];
      for (std::uint32_t y = 0; y < c.v; ++y) {
        for (std::uint32_t x = 0; x < c.h; ++x) {
          std::int16_t* out = c.base;
          if constexpr (kKeep) {
            const std::size_t column = std::size_t{mcu} * c.h + x;
            out += y * c.stride + column / kGroupBlocks * kGroupSize + column % kGroupBlocks * 8;
          }
          if (!decode_block(bits, *c.dc, *c.ac, c.predictor, out)) return false;
        }
      }
    }
    if (bits.at > run.limit) return false;
  }
  run.bits = bits;
  return true;
}

bool DecodeMcus(McuRun& run) { return run.keep ? decode_all<true>(run) : decode_all<false>(run); }

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(DecodeMcus);

bool decode_mcus(McuRun& run) { return HWY_DYNAMIC_DISPATCH(DecodeMcus)(run); }

}  // namespace headrace::jpeg
#endif
