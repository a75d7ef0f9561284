// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/resize_kernels.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

// Highway compiles this file once for each vector unit.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/resize_kernels.cc"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>  // IWYU pragma: keep
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3_DL
#include "headrace/decode/resize_avx512-inl.h"
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2
#include "headrace/decode/resize_avx2-inl.h"
#else
#include "headrace/decode/resize_plain-inl.h"
#endif

#if HWY_ONCE
namespace headrace {

HWY_EXPORT(PlanAcross);
HWY_EXPORT(RunAcross);
HWY_EXPORT(RunDown);
HWY_EXPORT(SplitRgb);
HWY_EXPORT(JoinRgb);
HWY_EXPORT(ToFloat);
HWY_EXPORT(StreamFloat);

void plan_across(const ResizeTable& table, AcrossPlan& plan) {
  plan.table = &table;
  // The most that any form needs: outputs in sixteens, taps in sixty-fours, six bytes a weight.
  const std::size_t outputs = (table.first.size() + 15) / 16 * 16;
  const std::size_t taps = (table.taps + std::size_t{63}) / 64 * 64;
  if (plan.base.size() < outputs) plan.base.resize(outputs);
  if (plan.memory.size() < outputs * taps * 6) plan.memory.resize(outputs * taps * 6);
  HWY_DYNAMIC_DISPATCH(PlanAcross)(table, plan);
}

void run_across(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out) {
  HWY_DYNAMIC_DISPATCH(RunAcross)(plan, row, out);
}

void run_down(const std::uint8_t* const* rows, const std::int32_t* weights, std::uint32_t taps,
              std::uint32_t width, std::uint8_t* out) {
  HWY_DYNAMIC_DISPATCH(RunDown)(rows, weights, taps, width, out);
}

void split_rgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out) {
  HWY_DYNAMIC_DISPATCH(SplitRgb)(rgb, width, out);
}

void join_rgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb) {
  HWY_DYNAMIC_DISPATCH(JoinRgb)(row, width, rgb);
}

void to_float(const std::uint8_t* in, std::uint32_t width, float scale, float bias, float* out) {
  HWY_DYNAMIC_DISPATCH(ToFloat)(in, width, scale, bias, out);
}

void stream_float(const std::uint8_t* in, std::uint32_t width, float scale, float bias,
                  float* out) {
  HWY_DYNAMIC_DISPATCH(StreamFloat)(in, width, scale, bias, out);
}

void fence_streams() { hwy::FlushStream(); }

}  // namespace headrace
#endif
