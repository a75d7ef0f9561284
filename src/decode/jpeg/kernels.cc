// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/kernels.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // no vectors: what is meant is what is done

void IdctGroups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    scalar::idct_group(coefficients + g * kGroupSize, quant, out + g * 32, stride);
  }
}
void UpsampleH2V1(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  scalar::upsample_h2v1(in, out, count);
}
void UpsampleH2V2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                  std::size_t count) {
  scalar::upsample_h2v2(near, far, out, count);
}
void YccToRgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
              std::uint8_t* rgb, std::size_t count) {
  scalar::ycc_to_rgb(y, cb, cr, rgb, count);
}
void YccToPlanes(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                 std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t rgb[3];
    scalar::ycc_to_rgb(y + i, cb + i, cr + i, rgb, 1);
    red[i] = rgb[0];
    green[i] = rgb[1];
    blue[i] = rgb[2];
  }
}

#else

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of at most 32 lanes of 16 bits: one row of a group of four blocks. All shuffles stay
// within 128 bits, which hold one block's row, so the code is the same for any width.
using D16 = hn::CappedTag<std::int16_t, 32>;
using D32 = hn::RepartitionToWide<D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

struct Pair {  ///< the 32-bit sums for the lower and the upper half of each 128 bits
  V32 low, high;
};

HWY_INLINE Pair plus(const Pair& a, const Pair& b) {
  return {hn::Add(a.low, b.low), hn::Add(a.high, b.high)};
}
HWY_INLINE Pair minus(const Pair& a, const Pair& b) {
  return {hn::Sub(a.low, b.low), hn::Sub(a.high, b.high)};
}

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

HWY_INLINE Pair rotate(V16 a, V16 b, std::int16_t ca, std::int16_t cb) {
  const V16 k = constants(D16(), ca, cb);
  return {multiply_add_pairs(hn::InterleaveLower(D16(), a, b), k),
          multiply_add_pairs(hn::InterleaveUpper(D16(), a, b), k)};
}

/// Sign-extended and shifted left by 13.
HWY_INLINE Pair widen(V16 x) {
  const V16 zero = hn::Zero(D16());
  return {hn::ShiftRight<3>(hn::BitCast(D32(), hn::InterleaveLower(D16(), zero, x))),
          hn::ShiftRight<3>(hn::BitCast(D32(), hn::InterleaveUpper(D16(), zero, x)))};
}

template <int kDescale>
HWY_INLINE V16 narrow(const Pair& x) {
  const V32 round = hn::Set(D32(), 1 << (kDescale - 1));
  return hn::ReorderDemote2To(D16(), hn::ShiftRight<kDescale>(hn::Add(x.low, round)),
                              hn::ShiftRight<kDescale>(hn::Add(x.high, round)));
}

/// One dimension on eight rows; the formulas are those of kernels_scalar.cc.
template <int kDescale>
HWY_INLINE void idct_1d(V16& r0, V16& r1, V16& r2, V16& r3, V16& r4, V16& r5, V16& r6, V16& r7) {
  using D = Dct;
  constexpr auto k = [](int x) { return static_cast<std::int16_t>(x); };
  const Pair tmp2 = rotate(r2, r6, D::k0_541, k(D::k0_541 - D::k1_847));
  const Pair tmp3 = rotate(r2, r6, k(D::k0_541 + D::k0_765), D::k0_541);
  const Pair tmp0 = widen(hn::Add(r0, r4));
  const Pair tmp1 = widen(hn::Sub(r0, r4));
  const Pair e0 = plus(tmp0, tmp3), e3 = minus(tmp0, tmp3);
  const Pair e1 = plus(tmp1, tmp2), e2 = minus(tmp1, tmp2);

  const V16 z3 = hn::Add(r7, r3), z4 = hn::Add(r5, r1);
  const Pair z3p = rotate(z3, z4, k(D::k1_175 - D::k1_961), D::k1_175);
  const Pair z4p = rotate(z3, z4, D::k1_175, k(D::k1_175 - D::k0_390));
  const Pair o0 = plus(rotate(r1, r7, k(D::k1_501 - D::k0_899), k(-D::k0_899)), z4p);
  const Pair o1 = plus(rotate(r3, r5, k(D::k3_072 - D::k2_562), k(-D::k2_562)), z3p);
  const Pair o2 = plus(rotate(r3, r5, k(-D::k2_562), k(D::k2_053 - D::k2_562)), z4p);
  const Pair o3 = plus(rotate(r1, r7, k(-D::k0_899), k(D::k0_298 - D::k0_899)), z3p);

  r0 = narrow<kDescale>(plus(e0, o0));
  r7 = narrow<kDescale>(minus(e0, o0));
  r1 = narrow<kDescale>(plus(e1, o1));
  r6 = narrow<kDescale>(minus(e1, o1));
  r2 = narrow<kDescale>(plus(e2, o2));
  r5 = narrow<kDescale>(minus(e2, o2));
  r3 = narrow<kDescale>(plus(e3, o3));
  r4 = narrow<kDescale>(minus(e3, o3));
}

/// 8 × 8 within each 128 bits.
HWY_INLINE void transpose(V16& r0, V16& r1, V16& r2, V16& r3, V16& r4, V16& r5, V16& r6, V16& r7) {
  const D16 d;
  const D32 d32;
  const hn::RepartitionToWide<D32> d64;
  const V16 a0 = hn::InterleaveLower(d, r0, r1), a1 = hn::InterleaveUpper(d, r0, r1);
  const V16 a2 = hn::InterleaveLower(d, r2, r3), a3 = hn::InterleaveUpper(d, r2, r3);
  const V16 a4 = hn::InterleaveLower(d, r4, r5), a5 = hn::InterleaveUpper(d, r4, r5);
  const V16 a6 = hn::InterleaveLower(d, r6, r7), a7 = hn::InterleaveUpper(d, r6, r7);
  const auto lower32 = [&](V16 x, V16 y) {
    return hn::BitCast(d64, hn::InterleaveLower(d32, hn::BitCast(d32, x), hn::BitCast(d32, y)));
  };
  const auto upper32 = [&](V16 x, V16 y) {
    return hn::BitCast(d64, hn::InterleaveUpper(d32, hn::BitCast(d32, x), hn::BitCast(d32, y)));
  };
  const auto b0 = lower32(a0, a2), b1 = upper32(a0, a2), b2 = lower32(a1, a3), b3 = upper32(a1, a3);
  const auto b4 = lower32(a4, a6), b5 = upper32(a4, a6), b6 = lower32(a5, a7), b7 = upper32(a5, a7);
  r0 = hn::BitCast(d, hn::InterleaveLower(d64, b0, b4));
  r1 = hn::BitCast(d, hn::InterleaveUpper(d64, b0, b4));
  r2 = hn::BitCast(d, hn::InterleaveLower(d64, b1, b5));
  r3 = hn::BitCast(d, hn::InterleaveUpper(d64, b1, b5));
  r4 = hn::BitCast(d, hn::InterleaveLower(d64, b2, b6));
  r5 = hn::BitCast(d, hn::InterleaveUpper(d64, b2, b6));
  r6 = hn::BitCast(d, hn::InterleaveLower(d64, b3, b7));
  r7 = hn::BitCast(d, hn::InterleaveUpper(d64, b3, b7));
}

HWY_INLINE void store_row(V16 row, std::uint8_t* out) {
  const hn::Rebind<std::int8_t, D16> d8;
  const hn::Rebind<std::uint8_t, D16> du8;
  const auto centred = hn::BitCast(du8, hn::DemoteTo(d8, row));  // saturates to -128 … 127
  hn::StoreU(hn::Xor(centred, hn::Set(du8, 0x80)), du8, out);    // + 128
}

/// False if a value is so large that the reference's shortcut for blocks without vertical detail
/// would wrap where the general way saturates: the scalar form knows which blocks took it.
HWY_INLINE bool idct_lanes(const std::int16_t* coefficients, const std::uint16_t* quant,
                           std::uint8_t* out, std::size_t stride) {
  const D16 d;
  const auto load = [&](std::size_t r) {
    const auto* q =
        reinterpret_cast<const std::int16_t*>(quant + r * 8);  // same bits, wrapping product
    return hn::Mul(hn::Load(d, coefficients + r * 32), hn::LoadDup128(d, q));
  };
  V16 r0 = load(0), r1 = load(1), r2 = load(2), r3 = load(3);
  V16 r4 = load(4), r5 = load(5), r6 = load(6), r7 = load(7);
  const auto fits = hn::And(hn::Lt(r0, hn::Set(d, 8192)), hn::Gt(r0, hn::Set(d, -8192)));
  if (HWY_UNLIKELY(!hn::AllTrue(d, fits))) return false;
  idct_1d<Dct::kConstBits - Dct::kPass1Bits>(r0, r1, r2, r3, r4, r5, r6, r7);
  transpose(r0, r1, r2, r3, r4, r5, r6, r7);
  idct_1d<Dct::kConstBits + Dct::kPass1Bits + 3>(r0, r1, r2, r3, r4, r5, r6, r7);
  transpose(r0, r1, r2, r3, r4, r5, r6, r7);
  store_row(r0, out);
  store_row(r1, out + stride);
  store_row(r2, out + 2 * stride);
  store_row(r3, out + 3 * stride);
  store_row(r4, out + 4 * stride);
  store_row(r5, out + 5 * stride);
  store_row(r6, out + 6 * stride);
  store_row(r7, out + 7 * stride);
  return true;
}

HWY_INLINE void idct_one(const std::int16_t* coefficients, const std::uint16_t* quant,
                         std::uint8_t* out, std::size_t stride) {
  for (std::size_t lane = 0; lane < 32; lane += hn::Lanes(D16())) {
    if (!idct_lanes(coefficients + lane, quant, out + lane, stride)) {
      return scalar::idct_group(coefficients, quant, out, stride);
    }
  }
}

void IdctGroups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    idct_one(coefficients + g * kGroupSize, quant, out + g * 32, stride);
  }
}

using D16W = hn::ScalableTag<std::int16_t>;
using D8H = hn::Rebind<std::uint8_t, D16W>;

HWY_INLINE hn::Vec<D16W> load16(const std::uint8_t* from) {
  return hn::PromoteTo(D16W(), hn::LoadU(D8H(), from));
}

void UpsampleH2V1(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  const D16W d;
  const D8H d8;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto here = load16(in + i);
    const auto three = hn::Add(here, hn::Add(here, here));
    const auto left = hn::Add(hn::Add(three, load16(in + i - 1)), hn::Set(d, 1));
    const auto right = hn::Add(hn::Add(three, load16(in + i + 1)), hn::Set(d, 2));
    hn::StoreInterleaved2(hn::DemoteTo(d8, hn::ShiftRight<2>(left)),
                          hn::DemoteTo(d8, hn::ShiftRight<2>(right)), d8, out + 2 * i);
  }
}

void UpsampleH2V2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                  std::size_t count) {
  const D16W d;
  const D8H d8;
  const auto column = [&](std::ptrdiff_t i) HWY_ATTR {
    const auto n = load16(near + i);
    return hn::Add(hn::Add(n, hn::Add(n, n)), load16(far + i));
  };
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto at = static_cast<std::ptrdiff_t>(i);
    const auto here = column(at);
    const auto three = hn::Add(here, hn::Add(here, here));
    const auto left = hn::Add(hn::Add(three, column(at - 1)), hn::Set(d, 8));
    const auto right = hn::Add(hn::Add(three, column(at + 1)), hn::Set(d, 7));
    hn::StoreInterleaved2(hn::DemoteTo(d8, hn::ShiftRight<4>(left)),
                          hn::DemoteTo(d8, hn::ShiftRight<4>(right)), d8, out + 2 * i);
  }
}

/// (2x · factor) >> 16, rounded half up after one more shift: how the reference multiplies by a
/// fraction in 16 bits.
template <int kFactor>
HWY_INLINE hn::Vec<D16W> fraction(hn::Vec<D16W> x) {
  const D16W d;
  const auto product = hn::MulHigh(hn::Add(x, x), hn::Set(d, static_cast<std::int16_t>(kFactor)));
  return hn::ShiftRight<1>(hn::Add(product, hn::Set(d, 1)));
}

struct Rgb8 {
  hn::Vec<D8H> red, green, blue;
};

HWY_INLINE Rgb8 ycc_lanes(const std::uint8_t* y8, const std::uint8_t* cb8,
                          const std::uint8_t* cr8) {
  const D16W d;
  const hn::RepartitionToWide<D16W> d32;
  const D8H d8;
  const auto y = load16(y8);
  const auto cb = hn::Sub(load16(cb8), hn::Set(d, 128));
  const auto cr = hn::Sub(load16(cr8), hn::Set(d, 128));
  const auto red = hn::Add(hn::Add(y, cr), fraction<26345>(cr));                 // + 0.40200
  const auto blue = hn::Add(hn::Add(y, hn::Add(cb, cb)), fraction<-14942>(cb));  // - 0.22800
  // green: -0.34414 cb + 0.28586 cr in 32 bits, then - cr
  const auto half = hn::Set(d32, 1 << 15);
  const auto factors = constants(d, -22554, 18734);
  const auto green_part = [&](hn::Vec<D16W> pair) HWY_ATTR {
    return hn::ShiftRight<16>(hn::Add(multiply_add_pairs(pair, factors), half));
  };
  const auto low = green_part(hn::InterleaveLower(d, cb, cr));
  const auto high = green_part(hn::InterleaveUpper(d, cb, cr));
  const auto green =
      hn::Add(y, hn::Sub(hn::ReorderDemote2To(d, low, high), cr));
  return {hn::DemoteTo(d8, red), hn::DemoteTo(d8, green), hn::DemoteTo(d8, blue)};
}

HWY_INLINE void store_interleaved(const Rgb8& pixels, std::uint8_t* rgb) {
  hn::StoreInterleaved3(pixels.red, pixels.green, pixels.blue, D8H(), rgb);
}

void YccToRgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
              std::uint8_t* rgb, std::size_t count) {
  const std::size_t lanes = hn::Lanes(D16W());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    store_interleaved(ycc_lanes(y + i, cb + i, cr + i), rgb + 3 * i);
  }
  if (i == count) return;
  HWY_ALIGN std::uint8_t last[3 * HWY_MAX_BYTES];  // the output has no slack behind its end
  store_interleaved(ycc_lanes(y + i, cb + i, cr + i), last);
  for (std::size_t k = 0; k < 3 * (count - i); ++k) rgb[3 * i + k] = last[k];
}

void YccToPlanes(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                 std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue, std::size_t count) {
  for (std::size_t i = 0; i < count; i += hn::Lanes(D16W())) {
    const Rgb8 pixels = ycc_lanes(y + i, cb + i, cr + i);
    hn::StoreU(pixels.red, D8H(), red + i);
    hn::StoreU(pixels.green, D8H(), green + i);
    hn::StoreU(pixels.blue, D8H(), blue + i);
  }
}

#endif  // HWY_SCALAR

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(IdctGroups);
HWY_EXPORT(UpsampleH2V1);
HWY_EXPORT(UpsampleH2V2);
HWY_EXPORT(YccToRgb);
HWY_EXPORT(YccToPlanes);

void idct_groups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                 std::size_t stride, std::size_t groups) {
  HWY_DYNAMIC_DISPATCH(IdctGroups)(coefficients, quant, out, stride, groups);
}
void upsample_h2v1(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(UpsampleH2V1)(in, out, count);
}
void upsample_h2v2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                   std::size_t count) {
  HWY_DYNAMIC_DISPATCH(UpsampleH2V2)(near, far, out, count);
}
void ycc_to_rgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                std::uint8_t* rgb, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(YccToRgb)(y, cb, cr, rgb, count);
}
void ycc_to_planes(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
                   std::uint8_t* red, std::uint8_t* green, std::uint8_t* blue, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(YccToPlanes)(y, cb, cr, red, green, blue, count);
}

}  // namespace headrace::jpeg
#endif
