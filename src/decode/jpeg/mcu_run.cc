// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/mcu_run.h"

#include "headrace/decode/jpeg/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/mcu_run.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/bits-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

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
            out += y * c.stride + block_offset(column);
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
