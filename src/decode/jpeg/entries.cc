// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/entries.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/entries.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D64 = hn::ScalableTag<std::uint64_t>;

constexpr Entry kWithoutSecondValue = ~Entry{0} >> 16U;

void FillValues(Entry first, unsigned shift, std::size_t size, Entry* out) {
  const D64 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto step = hn::ShiftRightSame(hn::Iota(d, i), static_cast<int>(shift));
    const auto values = hn::Add(hn::ShiftLeft<32>(step), hn::ShiftLeft<48>(step));
    hn::StoreU(hn::Add(hn::Set(d, first), values), d, out + i);
  }
  for (; i < size; ++i) {
    const Entry step = i >> shift;
    out[i] = first + (step << 32U) + (step << 48U);
  }
}

void FillPairs(Entry first, const Entry* seconds, std::size_t size, Entry* out) {
  const D64 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto alone = hn::Set(d, first);
  const auto shared = hn::Set(d, first & kWithoutSecondValue);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto second = hn::LoadU(d, seconds + i);
    const auto none = hn::Eq(second, hn::Zero(d));
    hn::StoreU(hn::IfThenElse(none, alone, hn::Add(shared, second)), d, out + i);
  }
  for (; i < size; ++i) {
    out[i] = seconds[i] == 0 ? first : (first & kWithoutSecondValue) + seconds[i];
  }
}

using F = LaneField;

void FillLaneValues(LaneEntry first, unsigned shift, std::size_t size, LaneEntry* out) {
  const D64 d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto step = hn::ShiftRightSame(hn::Iota(d, i), static_cast<int>(shift));
    hn::StoreU(hn::Add(hn::Set(d, first), hn::ShiftLeft<F::kFirst + 1>(step)), d, out + i);
  }
  for (; i < size; ++i) out[i] = first + (LaneEntry{i >> shift} << (F::kFirst + 1));
}

/// Where values stand, and where a pair's second one may.
constexpr LaneEntry kLanePlaces = ((LaneEntry{1} << F::kPlaceBits) - 1) << F::kPlaces;
constexpr LaneEntry kPairPlaces = ((LaneEntry{1} << kMostPairAdvance) - 1) << F::kPlaces;

LaneEntry lane_pair(LaneEntry first, LaneEntry second, unsigned step) {
  const LaneEntry places = (second & kLanePlaces) << step;
  if (second == 0 || (places & ~kPairPlaces) != 0) return first;
  return first + (second & ~kLanePlaces) + places;
}

void FillLanePairs(LaneEntry first, const LaneEntry* seconds, std::size_t size, LaneEntry* out) {
  const D64 d;
  const std::size_t lanes = hn::Lanes(d);
  const auto step = static_cast<unsigned>(first >> F::kAdvance & 0x7fU);
  const auto alone = hn::Set(d, first);
  const auto where = hn::Set(d, kLanePlaces);
  std::size_t i = 0;
  for (; i + lanes <= size; i += lanes) {
    const auto second = hn::LoadU(d, seconds + i);
    const auto places = hn::ShiftLeftSame(hn::And(second, where), static_cast<int>(step));
    const auto both = hn::Add(hn::Add(alone, hn::AndNot(where, second)), places);
    const auto fits = hn::Eq(hn::AndNot(hn::Set(d, kPairPlaces), places), hn::Zero(d));
    const auto none = hn::Eq(second, hn::Zero(d));
    hn::StoreU(hn::IfThenElse(hn::AndNot(none, fits), both, alone), d, out + i);
  }
  for (; i < size; ++i) out[i] = lane_pair(first, seconds[i], step);
}

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(FillValues);
HWY_EXPORT(FillPairs);
HWY_EXPORT(FillLaneValues);
HWY_EXPORT(FillLanePairs);

void fill_values(Entry first, unsigned shift, std::size_t size, Entry* out) {
  HWY_DYNAMIC_DISPATCH(FillValues)(first, shift, size, out);
}

void fill_pairs(Entry first, const Entry* seconds, std::size_t size, Entry* out) {
  HWY_DYNAMIC_DISPATCH(FillPairs)(first, seconds, size, out);
}

void fill_lane_values(LaneEntry first, unsigned shift, std::size_t size, LaneEntry* out) {
  HWY_DYNAMIC_DISPATCH(FillLaneValues)(first, shift, size, out);
}

void fill_lane_pairs(LaneEntry first, const LaneEntry* seconds, std::size_t size, LaneEntry* out) {
  HWY_DYNAMIC_DISPATCH(FillLanePairs)(first, seconds, size, out);
}

}  // namespace headrace::jpeg
#endif
