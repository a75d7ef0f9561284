// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/half_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

// Highway compiles this file once for each vector unit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/half_kernels.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DF = hn::ScalableTag<float>;
using D8 = hn::Rebind<std::uint8_t, DF>;
using D16 = hn::Rebind<std::uint16_t, DF>;

HWY_INLINE hn::Vec<DF> Values(const std::uint8_t* in, float scale, float bias) {
  const DF d;
  const hn::RebindToSigned<DF> di;
  const auto values = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(D8(), in)));
  return hn::Add(hn::Mul(values, hn::Set(d, scale)), hn::Set(d, bias));  // two roundings
}

/// Calls `convert(x)` for whole vectors; returns how many values that were.
template <class Convert>
HWY_INLINE std::uint32_t ForVectors(std::uint32_t width, const Convert& convert) {
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(DF()));
  std::uint32_t x = 0;
  for (; x + lanes <= width; x += lanes) convert(x);
  return x;
}

void ToHalf(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
            std::uint16_t* out) {
  std::uint32_t x = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL || \
    HWY_TARGET == HWY_NEON  // these have an instruction for it; elsewhere Highway truncates
  x = ForVectors(width, [&](std::uint32_t at) HWY_ATTR {
    const hn::Rebind<hwy::float16_t, DF> dh;
    const auto half = hn::DemoteTo(dh, Values(in + at, scale, bias));
    hn::StoreU(hn::BitCast(D16(), half), D16(), out + at);
  });
#endif
  for (; x < width; ++x) out[x] = half_of(static_cast<float>(in[x]) * scale + bias);
}

void ToBfloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
              std::uint16_t* out) {
  std::uint32_t x = ForVectors(width, [&](std::uint32_t at) HWY_ATTR {
    const hn::RebindToUnsigned<DF> du;
    const auto bits = hn::BitCast(du, Values(in + at, scale, bias));  // finite: never a NaN
    const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
    const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7fff)));
    hn::StoreU(hn::TruncateTo(D16(), hn::ShiftRight<16>(rounded)), D16(), out + at);
  });
  for (; x < width; ++x) out[x] = bfloat_of(static_cast<float>(in[x]) * scale + bias);
}

}  // namespace headrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(ToHalf);
HWY_EXPORT(ToBfloat);

std::uint16_t half_of(float value) {
  const auto sign =
      static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16U & 0x8000U);
  const float size = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00U;
  if (size == 0.0F) return sign;
  if (size >= 65520.0F) return sign | 0x7c00U;  // rounds to more than the largest
  int exponent = 0;
  std::frexp(size, &exponent);  // size = 0.5 … 1 times 2^exponent
  // 11 bits below the leading one's place; below 2^-14 the step stays that of 2^-14.
  const int step = std::max(exponent - 11, -24);
  const auto steps = static_cast<std::uint32_t>(std::lrint(std::ldexp(size, -step)));
  // The leading one adds 1 to the exponent's field, and so does a carry.
  return static_cast<std::uint16_t>(sign + (static_cast<std::uint32_t>(step + 24) << 10U) + steps);
}

std::uint16_t bfloat_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
}

void to_half(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
             std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ToHalf)(in, width, scale, bias, out);
}

void to_bfloat(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
               std::uint16_t* out) {
  HWY_DYNAMIC_DISPATCH(ToBfloat)(in, width, scale, bias, out);
}

}  // namespace headrace
#endif
