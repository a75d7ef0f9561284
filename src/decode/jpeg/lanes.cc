// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/lanes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/lanes.cc"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/lanes_target-inl.h"
#ifdef HEADRACE_LANES
#include "headrace/decode/jpeg/lanes-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

#ifdef HEADRACE_LANES
bool HasLanes() { return true; }
#else
bool HasLanes() { return false; }
bool DecodeLanes(const LaneJob& /*job*/) { return false; }
#endif

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(HasLanes);
HWY_EXPORT(DecodeLanes);

bool has_lanes() { return HWY_DYNAMIC_DISPATCH(HasLanes)(); }
bool decode_lanes(const LaneJob& job) { return HWY_DYNAMIC_DISPATCH(DecodeLanes)(job); }

}  // namespace headrace::jpeg
#endif
