// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/scout.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/scout.cc"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3_DL
#include "headrace/decode/jpeg/scout_avx512-inl.h"
#else

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {
bool Scout(const LaneJob& /*job*/, std::size_t /*mcus*/,
           std::vector<std::vector<BlockEnd>>& /*memory*/, std::vector<Checkpoint>& /*starts*/) {
  return false;
}
}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_AVX3_DL

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(Scout);

bool scout(const LaneJob& job, std::size_t mcus, std::vector<std::vector<BlockEnd>>& memory,
           std::vector<Checkpoint>& starts) {
  return HWY_DYNAMIC_DISPATCH(Scout)(job, mcus, memory, starts);
}

}  // namespace headrace::jpeg
#endif
