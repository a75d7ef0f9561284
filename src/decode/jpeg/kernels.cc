// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/kernels.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/pairs-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR  // no vectors: what is meant is what is done

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

using D16W = hn::ScalableTag<std::int16_t>;
using D8H = hn::Rebind<std::uint8_t, D16W>;

HWY_INLINE hn::Vec<D16W> load16(const std::uint8_t* from) {
  return hn::PromoteTo(D16W(), hn::LoadU(D8H(), from));
}

/// Bytes of even, then of odd places, by turns. Both are below 256, so a word holds one of each.
HWY_INLINE void store_by_turns(hn::Vec<D16W> even, hn::Vec<D16W> odd, std::uint8_t* out) {
  const hn::Repartition<std::uint8_t, D16W> d8;
  hn::StoreU(hn::BitCast(d8, hn::Or(even, hn::ShiftLeft<8>(odd))), d8, out);
}

void UpsampleH2V1(const std::uint8_t* in, std::uint8_t* out, std::size_t count) {
  const D16W d;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto here = load16(in + i);
    const auto three = hn::Add(here, hn::Add(here, here));
    const auto left = hn::Add(hn::Add(three, load16(in + i - 1)), hn::Set(d, 1));
    const auto right = hn::Add(hn::Add(three, load16(in + i + 1)), hn::Set(d, 2));
    store_by_turns(hn::ShiftRight<2>(left), hn::ShiftRight<2>(right), out + 2 * i);
  }
}

void UpsampleH2V2(const std::uint8_t* near, const std::uint8_t* far, std::uint8_t* out,
                  std::size_t count) {
  const D16W d;
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
    store_by_turns(hn::ShiftRight<4>(left), hn::ShiftRight<4>(right), out + 2 * i);
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

// Pixels in two halves of words, as unpacking bytes leaves them; packing puts them together again.
using D8W = hn::Repartition<std::uint8_t, D16W>;
using V8 = hn::Vec<D8W>;
using V16W = hn::Vec<D16W>;

struct Halves {
  V16W low, high;
};
HWY_INLINE Halves unpacked(const std::uint8_t* from, int less) {
  const D8W d8;
  const D16W d;
  const auto bytes = hn::LoadU(d8, from);
  const auto zero = hn::Zero(d8);
  const auto offset = hn::Set(d, static_cast<std::int16_t>(less));
  return {hn::Sub(hn::BitCast(d, hn::InterleaveLower(d8, bytes, zero)), offset),
          hn::Sub(hn::BitCast(d, hn::InterleaveUpper(d8, bytes, zero)), offset)};
}
struct Rgb16 {
  V16W red, green, blue;
};
HWY_INLINE Rgb16 to_rgb(V16W y, V16W cb, V16W cr) {
  const D16W d;
  const hn::RepartitionToWide<D16W> d32;
  const auto red = hn::Add(hn::Add(y, cr), fraction<26345>(cr));                 // + 0.40200
  const auto blue = hn::Add(hn::Add(y, hn::Add(cb, cb)), fraction<-14942>(cb));  // - 0.22800
  // green: -0.34414 cb + 0.28586 cr in 32 bits, then - cr
  const auto half = hn::Set(d32, 1 << 15);
  const auto factors = constants(d, -22554, 18734);
  const auto green_part = [&](V16W pairs) HWY_ATTR {
    return hn::ShiftRight<16>(hn::Add(multiply_add_pairs(pairs, factors), half));
  };
  const auto low = green_part(hn::InterleaveLower(d, cb, cr));
  const auto high = green_part(hn::InterleaveUpper(d, cb, cr));
  const auto green = hn::Add(y, hn::Sub(hn::ReorderDemote2To(d, low, high), cr));
  return {red, green, blue};
}

struct Rgb8 {
  V8 red, green, blue;
};
HWY_INLINE Rgb8 ycc_lanes(const std::uint8_t* y8, const std::uint8_t* cb8,
                          const std::uint8_t* cr8) {
  const Halves y = unpacked(y8, 0), cb = unpacked(cb8, 128), cr = unpacked(cr8, 128);
  const Rgb16 low = to_rgb(y.low, cb.low, cr.low), high = to_rgb(y.high, cb.high, cr.high);
  return {demote_two<std::uint8_t>(low.red, high.red),
          demote_two<std::uint8_t>(low.green, high.green),
          demote_two<std::uint8_t>(low.blue, high.blue)};
}

HWY_INLINE void store_interleaved(const Rgb8& pixels, std::uint8_t* rgb) {
  hn::StoreInterleaved3(pixels.red, pixels.green, pixels.blue, D8W(), rgb);
}

void YccToRgb(const std::uint8_t* y, const std::uint8_t* cb, const std::uint8_t* cr,
              std::uint8_t* rgb, std::size_t count) {
  const std::size_t lanes = hn::Lanes(D8W());
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
  for (std::size_t i = 0; i < count; i += hn::Lanes(D8W())) {
    const Rgb8 pixels = ycc_lanes(y + i, cb + i, cr + i);
    hn::StoreU(pixels.red, D8W(), red + i);
    hn::StoreU(pixels.green, D8W(), green + i);
    hn::StoreU(pixels.blue, D8W(), blue + i);
  }
}

#endif  // HWY_SCALAR

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(UpsampleH2V1);
HWY_EXPORT(UpsampleH2V2);
HWY_EXPORT(YccToRgb);
HWY_EXPORT(YccToPlanes);

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
