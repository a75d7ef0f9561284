// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/resize_weights.h"

#include <algorithm>

// Highway compiles this file once for each vector unit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/resize_weights.cc"
#include <hwy/foreach_target.h>  // IWYU pragma: keep
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using DD = hn::CappedTag<double, kLeastOutputs>;
using DI = hn::Rebind<std::int32_t, DD>;
using VD = hn::Vec<DD>;

HWY_INLINE VD All(double x) { return hn::Set(DD(), x); }

HWY_INLINE VD Numbers(const std::uint32_t* from) {
  const hn::Rebind<std::uint32_t, DD> du;
  return hn::PromoteTo(DD(), hn::BitCast(DI(), hn::LoadU(du, from)));
}

/// Towards zero.
HWY_INLINE void Store(VD x, std::uint32_t* to) {
  const hn::Rebind<std::uint32_t, DD> du;
  hn::StoreU(hn::BitCast(du, hn::DemoteTo(DI(), x)), du, to);
}

HWY_INLINE VD Centers(const ResizeGeometry& g, std::uint32_t output) {
  const VD place = hn::Iota(DD(), static_cast<double>(g.begin + output));
  return hn::Mul(hn::Add(place, All(0.5)), All(g.scale));
}

/// Calls `group(output)` for whole vectors; the last may take some outputs again.
template <class Group>
HWY_INLINE void ForGroups(std::size_t outputs, const Group& group) {
  const std::size_t lanes = hn::Lanes(DD());
  for (std::size_t at = 0; at < outputs; at += lanes)
    group(static_cast<std::uint32_t>(std::min(at, outputs - lanes)));
}

void Inputs(const ResizeGeometry& g, std::span<std::uint32_t> first,
            std::span<std::uint32_t> count) {
  ForGroups(first.size(), [&](std::uint32_t at) HWY_ATTR {
    const VD center = Centers(g, at);
    const VD support = All(g.support);
    const VD half = All(0.5);
    const VD from = hn::Floor(hn::Max(hn::Add(hn::Sub(center, support), half), hn::Zero(DD())));
    const VD to = hn::Min(hn::Floor(hn::Add(hn::Add(center, support), half)),
                          All(static_cast<double>(g.source)));
    Store(from, &first[at]);
    Store(hn::Max(hn::Sub(to, from), hn::Zero(DD())), &count[at]);
  });
}

struct Box {
  static HWY_INLINE VD Weight(VD x) {
    const auto inside = hn::And(hn::Gt(x, All(-0.5)), hn::Le(x, All(0.5)));
    return hn::IfThenElseZero(inside, All(1.0));
  }
};

struct Bilinear {
  static HWY_INLINE VD Weight(VD x) {
    x = hn::Abs(x);
    return hn::IfThenElseZero(hn::Lt(x, All(1.0)), hn::Sub(All(1.0), x));
  }
};

struct Bicubic {
  static HWY_INLINE VD Weight(VD x) {
    constexpr double kA = -0.5;
    x = hn::Abs(x);
    VD near = hn::Sub(hn::Mul(All(kA + 2.0), x), All(kA + 3.0));
    near = hn::Add(hn::Mul(hn::Mul(near, x), x), All(1.0));
    VD far = hn::Add(hn::Mul(hn::Sub(x, All(5.0)), x), All(8.0));
    far = hn::Mul(hn::Sub(hn::Mul(far, x), All(4.0)), All(kA));
    far = hn::IfThenElseZero(hn::Lt(x, All(2.0)), far);
    return hn::IfThenElse(hn::Lt(x, All(1.0)), near, far);
  }
};

template <class Kind>
HWY_INLINE void WeightsOf(const ResizeGeometry& g, std::span<const std::uint32_t> first,
                          std::span<const std::uint32_t> count, std::uint32_t most, double one,
                          std::span<double> scratch, std::uint32_t taps, std::int32_t* weights) {
  const DD d;
  const auto lanes = static_cast<std::uint32_t>(hn::Lanes(d));
  const VD inverse = All(1.0 / g.filter_scale);
  ForGroups(first.size(), [&](std::uint32_t at) HWY_ATTR {
    const VD center = Centers(g, at);
    const VD begin = Numbers(&first[at]);
    const VD inputs = Numbers(&count[at]);
    VD sum = hn::Zero(d);
    for (std::uint32_t t = 0; t < most; ++t) {
      const VD tap = All(static_cast<double>(t));
      const VD x = hn::Add(hn::Sub(hn::Add(begin, tap), center), All(0.5));
      const VD weight = hn::IfThenElseZero(hn::Lt(tap, inputs), Kind::Weight(hn::Mul(x, inverse)));
      sum = hn::Add(sum, weight);
      hn::StoreU(weight, d, &scratch[std::size_t{t} * lanes]);
    }
    sum = hn::IfThenElse(hn::Eq(sum, hn::Zero(d)), All(1.0), sum);
    HWY_ALIGN std::int32_t fixed[kLeastOutputs];
    for (std::uint32_t t = 0; t < most; ++t) {
      const VD weight = hn::Div(hn::LoadU(d, &scratch[std::size_t{t} * lanes]), sum);
      const VD half = hn::IfThenElse(hn::Lt(weight, hn::Zero(d)), All(-0.5), All(0.5));
      hn::StoreU(hn::DemoteTo(DI(), hn::Add(half, hn::Mul(weight, All(one)))), DI(), fixed);
      for (std::uint32_t lane = 0; lane < lanes; ++lane)
        weights[std::size_t{at + lane} * taps + t] = fixed[lane];
    }
  });
}

void Weights(Filter filter, const ResizeGeometry& g, std::span<const std::uint32_t> first,
             std::span<const std::uint32_t> count, std::uint32_t most, int bits,
             std::span<double> scratch, std::uint32_t taps, std::int32_t* weights) {
  const auto one = static_cast<double>(1U << static_cast<unsigned>(bits));
  if (filter == Filter::box) {
    WeightsOf<Box>(g, first, count, most, one, scratch, taps, weights);
  } else if (filter == Filter::bicubic) {
    WeightsOf<Bicubic>(g, first, count, most, one, scratch, taps, weights);
  } else {
    WeightsOf<Bilinear>(g, first, count, most, one, scratch, taps, weights);
  }
}

}  // namespace headrace::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(Inputs);
HWY_EXPORT(Weights);

void inputs_in_lanes(const ResizeGeometry& g, std::span<std::uint32_t> first,
                     std::span<std::uint32_t> count) {
  HWY_DYNAMIC_DISPATCH(Inputs)(g, first, count);
}

void weights_in_lanes(Filter filter, const ResizeGeometry& g, std::span<const std::uint32_t> first,
                      std::span<const std::uint32_t> count, std::uint32_t most, int bits,
                      std::span<double> scratch, std::uint32_t taps, std::int32_t* weights) {
  HWY_DYNAMIC_DISPATCH(Weights)(filter, g, first, count, most, bits, scratch, taps, weights);
}

}  // namespace headrace
#endif
