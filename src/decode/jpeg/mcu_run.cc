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

/// Afterwards at least 56 bits are valid, and the 8 below them are right as well.
HWY_INLINE void refill(const std::uint8_t*& at, std::uint64_t& window, std::uint32_t& count) {
  window |= load_big_endian(at) >> count;
  at += (63 - count) >> 3U;
  count |= 56U;
}

HWY_INLINE FastEntry look(const FastEntry* table, std::uint64_t window) {
  return table[window >> (64U - kLookBits)];
}

/// Takes one value: goes on to the index that it has, and puts it there.
HWY_INLINE void take(FastEntry entry, std::uint64_t& window, std::uint32_t& count, std::uint32_t& k,
                     std::int16_t* HWY_RESTRICT out) {
  k += advance_of(entry);
  out[kPlaces.offset[k]] = static_cast<std::int16_t>(value_of(window, entry));
  window <<= entry & 63U;
  count -= entry & 63U;
}

/// The state is three variables, not one: so the compiler keeps them in registers.
HWY_INLINE bool decode_block(const std::uint8_t*& at, std::uint64_t& window, std::uint32_t& count,
                             const HuffmanTable& dc, const HuffmanTable& ac,
                             std::int32_t& predictor, std::int16_t* HWY_RESTRICT out) {
  refill(at, window, count);
  FastEntry entry = look(dc.fast_table(), window);
  if (HWY_UNLIKELY(advance_of(entry) == kSlow)) {
    entry = long_code(window, dc, false);
    if (advance_of(entry) == 0) return false;
  }
  const std::int32_t value = predictor + value_of(window, entry);
  window <<= entry & 63U;
  count -= entry & 63U;
  if (value != static_cast<std::int16_t>(value)) return false;
  predictor = value;
  out[0] = static_cast<std::int16_t>(value);

  const FastEntry* const table = ac.fast_table();
  std::uint32_t k = 1;
  for (;;) {
    do {  // a look and its value take 22 bits at most, 6 on average: four to a refill of 56
      refill(at, window, count);
      entry = look(table, window);
      take(entry, window, count, k, out);
      if (HWY_UNLIKELY(k >= 64)) break;
      entry = look(table, window);
      take(entry, window, count, k, out);
      if (HWY_UNLIKELY(k >= 64)) break;
      if (HWY_UNLIKELY(count < 22)) continue;
      entry = look(table, window);
      take(entry, window, count, k, out);
      if (HWY_UNLIKELY(k >= 64)) break;
      if (HWY_UNLIKELY(count < 22)) continue;
      entry = look(table, window);
      take(entry, window, count, k, out);
    } while (HWY_LIKELY(k < 64));
    if (HWY_LIKELY(advance_of(entry) != kSlow)) break;
    k -= kSlow;
    refill(at, window, count);
    entry = long_code(window, ac, true);
    if (advance_of(entry) == 0) return false;
    take(entry, window, count, k, out);
    if (k >= 64) break;
  }
  return k == 64 || advance_of(entry) == kEndOfBlock;  // else: a run that leaves the block
}

template <bool kKeep>
HWY_INLINE bool decode_all(McuRun& run) {
  const std::uint8_t* at = run.bits.at;
  std::uint64_t window = run.bits.window;
  std::uint32_t count = run.bits.count;
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
          if (!decode_block(at, window, count, *c.dc, *c.ac, c.predictor, out)) return false;
        }
      }
    }
    if (at > run.limit) return false;
  }
  run.bits = {at, window, count};
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
