// SPDX-License-Identifier: Apache-2.0
/// \file For which targets there are lanes, and the instructions that each may use. Included once
/// for each target, before the other files of lanes.

#undef HEADRACE_LANES
#undef HEADRACE_BEFORE_LANES
#if HWY_TARGET == HWY_AVX3_DL
#define HEADRACE_LANES 512
#define HEADRACE_BEFORE_LANES() HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vbmi2")
#elif HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
#define HEADRACE_LANES 2
#define HEADRACE_BEFORE_LANES() HWY_BEFORE_NAMESPACE()
#endif
