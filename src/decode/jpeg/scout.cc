// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/scout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/scout.cc"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#include "headrace/decode/jpeg/lanes_target-inl.h"
#ifdef HEADRACE_LANES
#include "headrace/decode/jpeg/scout-inl.h"
#endif

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

#if defined(HEADRACE_LANES) && HEADRACE_LANES == 512
double ScoutedShare() { return 1; }
#elif defined(HEADRACE_LANES)
double ScoutedShare() { return 0.5; }  // measured: equal at 0.56
#else
double ScoutedShare() { return 0; }
bool Scout(const LaneJob& /*job*/, std::size_t /*mcus*/,
           std::vector<std::vector<BlockEnd>>& /*memory*/, std::vector<Checkpoint>& /*starts*/) {
  return false;
}
#endif

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(ScoutedShare);
HWY_EXPORT(Scout);

double scouted_share() { return HWY_DYNAMIC_DISPATCH(ScoutedShare)(); }

bool scout(const LaneJob& job, std::size_t mcus, std::vector<std::vector<BlockEnd>>& memory,
           std::vector<Checkpoint>& starts) {
  return HWY_DYNAMIC_DISPATCH(Scout)(job, mcus, memory, starts);
}

}  // namespace headrace::jpeg
#endif
