// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/vector_units.h"

#include <hwy/highway.h>

namespace headrace {

bool use_vector_unit(VectorUnit unit) {
  hwy::SetSupportedTargetsForTest(0);
  const auto all = hwy::SupportedTargets();
  std::int64_t wanted = all;
#if HWY_ARCH_X86
  if (unit == VectorUnit::avx2) {
    if ((all & HWY_AVX2) == 0) return false;
    wanted = all & ~std::int64_t{HWY_AVX2 - 1};  // smaller bits are later units
  }
#else
  if (unit == VectorUnit::avx2) return false;
#endif
  if (unit == VectorUnit::plain) wanted = all & (HWY_EMU128 | HWY_SCALAR);
  if (unit != VectorUnit::best) hwy::SetSupportedTargetsForTest(wanted);
  hwy::GetChosenTarget().DeInit();  // chooses anew at the next call
  return true;
}

std::string_view vector_unit_name() {
  const auto all = hwy::SupportedTargets();
  return hwy::TargetName(all & -all);
}

}  // namespace headrace
