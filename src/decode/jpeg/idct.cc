// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/idct.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // no vectors: what is meant is what is done

void IdctGroups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                std::size_t stride, std::size_t groups) {
  for (std::size_t g = 0; g < groups; ++g) {
    scalar::idct_group(coefficients + g * kGroupSize, quant, out + g * 32, stride);
  }
}

#else

// Vectors of at most 32 lanes of 16 bits: a line of a group of four blocks. All shuffles but the
// last stay within 128 bits, which hold one block's, so the code is the same for any width.
using D16 = hn::CappedTag<std::int16_t, 32>;
using D32 = hn::RepartitionToWide<D16>;
using D64 = hn::RepartitionToWide<D32>;
using D8 = hn::Repartition<std::int8_t, D16>;
using V16 = hn::Vec<D16>;
using V32 = hn::Vec<D32>;

/// Of four columns, or rows, the rows 0 and 4, 2 and 6, 1 and 7, 3 and 5, side by side: what one
/// dimension multiplies together is one multiplication.
struct Rows {
  V16 r04, r26, r17, r35;
};

HWY_INLINE V32 times(V16 pairs, int ca, int cb) {
  return multiply_add_pairs(
      pairs, constants(D16(), static_cast<std::int16_t>(ca), static_cast<std::int16_t>(cb)));
}

/// False if a sum of rows 0 and 4 might wrap, which here it does not; or if row 0 is so large that
/// the reference's shortcut for blocks without vertical detail would wrap where the general way
/// saturates: the scalar form does all of that.
HWY_INLINE bool fits(V16 a, V16 b) {
  const hn::RebindToUnsigned<D16> d;
  const auto half = hn::Set(D16(), 8192);
  const auto either = hn::Or(hn::Add(a, half), hn::Add(b, half));
  return hn::AllTrue(d, hn::Lt(hn::BitCast(d, either), hn::Set(d, 16384)));
}

/// Eight of them, by name: in an array they would not be in registers.
template <class V>
struct Eight {
  V x0, x1, x2, x3, x4, x5, x6, x7;
};

/// One dimension of four columns; the formulas are those of kernels_scalar.cc.
template <int kDescale>
HWY_INLINE Eight<V32> idct_1d(const Rows& in) {
  using D = Dct;
  const D32 d;
  constexpr int kOne = 1 << D::kConstBits;
  const V32 round = hn::Set(d, 1 << (kDescale - 1));
  const V32 tmp0 = hn::Add(times(in.r04, kOne, kOne), round);
  const V32 tmp1 = hn::Add(times(in.r04, kOne, -kOne), round);
  const V32 tmp2 = times(in.r26, D::k0_541, D::k0_541 - D::k1_847);
  const V32 tmp3 = times(in.r26, D::k0_541 + D::k0_765, D::k0_541);
  const V32 e0 = hn::Add(tmp0, tmp3), e3 = hn::Sub(tmp0, tmp3);
  const V32 e1 = hn::Add(tmp1, tmp2), e2 = hn::Sub(tmp1, tmp2);

  const V16 z43 = hn::Add(in.r17, hn::Reverse2(D16(), in.r35));
  const V32 z3 = times(z43, D::k1_175, D::k1_175 - D::k1_961);
  const V32 z4 = times(z43, D::k1_175 - D::k0_390, D::k1_175);
  const V32 o0 = hn::Add(times(in.r17, D::k1_501 - D::k0_899, -D::k0_899), z4);
  const V32 o1 = hn::Add(times(in.r35, D::k3_072 - D::k2_562, -D::k2_562), z3);
  const V32 o2 = hn::Add(times(in.r35, -D::k2_562, D::k2_053 - D::k2_562), z4);
  const V32 o3 = hn::Add(times(in.r17, -D::k0_899, D::k0_298 - D::k0_899), z3);

  return {hn::ShiftRight<kDescale>(hn::Add(e0, o0)), hn::ShiftRight<kDescale>(hn::Add(e1, o1)),
          hn::ShiftRight<kDescale>(hn::Add(e2, o2)), hn::ShiftRight<kDescale>(hn::Add(e3, o3)),
          hn::ShiftRight<kDescale>(hn::Sub(e3, o3)), hn::ShiftRight<kDescale>(hn::Sub(e2, o2)),
          hn::ShiftRight<kDescale>(hn::Sub(e1, o1)), hn::ShiftRight<kDescale>(hn::Sub(e0, o0))};
}

/// Both halves of a dimension: eight lines of eight.
template <int kDescale>
HWY_INLINE Eight<V16> idct_both(const Rows& low, const Rows& high) {
  const Eight<V32> a = idct_1d<kDescale>(low), b = idct_1d<kDescale>(high);
  const D16 d;
  return {hn::ReorderDemote2To(d, a.x0, b.x0), hn::ReorderDemote2To(d, a.x1, b.x1),
          hn::ReorderDemote2To(d, a.x2, b.x2), hn::ReorderDemote2To(d, a.x3, b.x3),
          hn::ReorderDemote2To(d, a.x4, b.x4), hn::ReorderDemote2To(d, a.x5, b.x5),
          hn::ReorderDemote2To(d, a.x6, b.x6), hn::ReorderDemote2To(d, a.x7, b.x7)};
}

/// A line holds columns 0 4 2 6 1 7 3 5: pairs, as the other dimension wants them. Of four lines
/// the pairs come together.
HWY_INLINE Rows turn(V16 a, V16 b, V16 c, V16 d) {
  const auto as32 = [](V16 x) HWY_ATTR { return hn::BitCast(D32(), x); };
  const auto ab04 = hn::BitCast(D64(), hn::InterleaveLower(D32(), as32(a), as32(b)));
  const auto ab13 = hn::BitCast(D64(), hn::InterleaveUpper(D32(), as32(a), as32(b)));
  const auto cd04 = hn::BitCast(D64(), hn::InterleaveLower(D32(), as32(c), as32(d)));
  const auto cd13 = hn::BitCast(D64(), hn::InterleaveUpper(D32(), as32(c), as32(d)));
  return {hn::BitCast(D16(), hn::InterleaveLower(D64(), ab04, cd04)),
          hn::BitCast(D16(), hn::InterleaveUpper(D64(), ab04, cd04)),
          hn::BitCast(D16(), hn::InterleaveLower(D64(), ab13, cd13)),
          hn::BitCast(D16(), hn::InterleaveUpper(D64(), ab13, cd13))};
}

/// Bytes, of each block two rows.
struct Bytes {
  hn::Vec<D64> r01, r23, r45, r67;
};

/// Columns become rows of bytes, 128 added.
HWY_INLINE Bytes bytes_of(const Eight<V16>& columns) {
  const D8 d8;
  const auto c02 = demote_two<std::int8_t>(columns.x0, columns.x2),
             c13 = demote_two<std::int8_t>(columns.x1, columns.x3);
  const auto c46 = demote_two<std::int8_t>(columns.x4, columns.x6),
             c57 = demote_two<std::int8_t>(columns.x5, columns.x7);
  const auto as16 = [](auto x) HWY_ATTR { return hn::BitCast(D16(), x); };
  const V16 c01 = as16(hn::InterleaveLower(d8, c02, c13));
  const V16 c23 = as16(hn::InterleaveUpper(d8, c02, c13));
  const V16 c45 = as16(hn::InterleaveLower(d8, c46, c57));
  const V16 c67 = as16(hn::InterleaveUpper(d8, c46, c57));
  const auto left0 = hn::BitCast(D32(), hn::InterleaveLower(D16(), c01, c23));
  const auto left4 = hn::BitCast(D32(), hn::InterleaveUpper(D16(), c01, c23));
  const auto right0 = hn::BitCast(D32(), hn::InterleaveLower(D16(), c45, c67));
  const auto right4 = hn::BitCast(D32(), hn::InterleaveUpper(D16(), c45, c67));
  const auto centre = hn::BitCast(D64(), hn::Set(d8, static_cast<std::int8_t>(-128)));
  const auto both = [&](V32 x) HWY_ATTR { return hn::Xor(hn::BitCast(D64(), x), centre); };
  return {both(hn::InterleaveLower(D32(), left0, right0)),
          both(hn::InterleaveUpper(D32(), left0, right0)),
          both(hn::InterleaveLower(D32(), left4, right4)),
          both(hn::InterleaveUpper(D32(), left4, right4))};
}

/// Four rows of all blocks.
HWY_INLINE void store(hn::Vec<D64> r01, hn::Vec<D64> r23, std::uint8_t* out, std::size_t stride) {
  const D64 d;
  const hn::Half<D64> half;
  const hn::Repartition<std::uint8_t, hn::Half<D64> > d8;
  const auto even = hn::ConcatEven(d, r23, r01), odd = hn::ConcatOdd(d, r23, r01);
  hn::StoreU(hn::BitCast(d8, hn::LowerHalf(half, even)), d8, out);
  hn::StoreU(hn::BitCast(d8, hn::LowerHalf(half, odd)), d8, out + stride);
  hn::StoreU(hn::BitCast(d8, hn::UpperHalf(half, even)), d8, out + 2 * stride);
  hn::StoreU(hn::BitCast(d8, hn::UpperHalf(half, odd)), d8, out + 3 * stride);
}

/// As many blocks as a vector holds. False: nothing was written.
HWY_INLINE bool idct_lanes(const std::int16_t* coefficients, const std::uint16_t* quant,
                           std::uint8_t* out, std::size_t stride) {
  const D16 d;
  const auto load = [&](std::size_t i) HWY_ATTR {
    const auto* q = reinterpret_cast<const std::int16_t*>(quant + i * 8);
    return hn::Mul(hn::Load(d, coefficients + i * 32), hn::LoadDup128(d, q));  // which wraps
  };
  const Rows low{load(0), load(2), load(4), load(6)};
  const Rows high{load(1), load(3), load(5), load(7)};
  if (HWY_UNLIKELY(!fits(low.r04, high.r04))) return false;
  const auto lines = idct_both<Dct::kConstBits - Dct::kPass1Bits>(low, high);
  const Rows top = turn(lines.x0, lines.x1, lines.x2, lines.x3);
  const Rows bottom = turn(lines.x4, lines.x5, lines.x6, lines.x7);
  if (HWY_UNLIKELY(!fits(top.r04, bottom.r04))) return false;
  const Bytes rows = bytes_of(idct_both<Dct::kConstBits + Dct::kPass1Bits + 3>(top, bottom));
  store(rows.r01, rows.r23, out, stride);
  store(rows.r45, rows.r67, out + 4 * stride, stride);
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

#endif  // HWY_SCALAR

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(IdctGroups);

void idct_groups(const std::int16_t* coefficients, const std::uint16_t* quant, std::uint8_t* out,
                 std::size_t stride, std::size_t groups) {
  HWY_DYNAMIC_DISPATCH(IdctGroups)(coefficients, quant, out, stride, groups);
}

}  // namespace headrace::jpeg
#endif
