// SPDX-License-Identifier: Apache-2.0
/// \file Two at a time: sums of two products, bytes of two vectors; compiled for each instruction
/// set.

#if defined(HEADRACE_DECODE_JPEG_PAIRS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_DECODE_JPEG_PAIRS_INL_H_
#undef HEADRACE_DECODE_JPEG_PAIRS_INL_H_
#else
#define HEADRACE_DECODE_JPEG_PAIRS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR

/// ca · a + cb · b in 32 bits, for lanes a and b.
template <class V, class W = hn::Vec<hn::RepartitionToWide<hn::DFromV<V>>>>
HWY_INLINE W multiply_add_pairs(V interleaved, V constants) {
  const hn::RepartitionToWide<hn::DFromV<V>> d32;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || \
    HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  // On x86 this is one instruction (pmaddwd), which adds neighbours; elsewhere the order is free.
  W unused = hn::Zero(d32);
  return hn::ReorderWidenMulAccumulate(d32, interleaved, constants, hn::Zero(d32), unused);
#else
  const W a = hn::BitCast(d32, interleaved);
  const W c = hn::BitCast(d32, constants);
  const W even =
      hn::Mul(hn::ShiftRight<16>(hn::ShiftLeft<16>(a)), hn::ShiftRight<16>(hn::ShiftLeft<16>(c)));
  const W odd = hn::Mul(hn::ShiftRight<16>(a), hn::ShiftRight<16>(c));
  return hn::Add(even, odd);
#endif
}

template <class D>
HWY_INLINE hn::Vec<D> constants(D d, std::int16_t ca, std::int16_t cb) {
  const auto pair = static_cast<std::int32_t>(
      (static_cast<std::uint32_t>(static_cast<std::uint16_t>(cb)) << 16U) |
      static_cast<std::uint16_t>(ca));
  return hn::BitCast(d, hn::Set(hn::RepartitionToWide<D>(), pair));
}

/// Words of a and b as bytes `T`, saturated; within each 128 bits a's before b's: what unpacking
/// bytes to words has taken apart comes together again.
template <class T, class V, class B = hn::Vec<hn::Repartition<T, hn::DFromV<V>>>>
HWY_INLINE B demote_two(V a, V b) {
  [[maybe_unused]] constexpr bool kSigned = hwy::IsSigned<T>();
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL  // Highway 1.0.3 has it for words only
  return B{kSigned ? _mm512_packs_epi16(a.raw, b.raw) : _mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return B{kSigned ? _mm256_packs_epi16(a.raw, b.raw) : _mm256_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
  return B{kSigned ? _mm_packs_epi16(a.raw, b.raw) : _mm_packus_epi16(a.raw, b.raw)};
#else
  const hn::Repartition<T, hn::DFromV<V>> d;
  const hn::Half<decltype(d)> half;
  return hn::Combine(d, hn::DemoteTo(half, b), hn::DemoteTo(half, a));
#endif
}

#endif  // HWY_SCALAR

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HEADRACE_DECODE_JPEG_PAIRS_INL_H_
