// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/unstuff.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "headrace/decode/jpeg/unstuff.cc"
#define HWY_WANT_AVX3_DL
#include <hwy/foreach_target.h>  // compiles this file once for each target; must come first
//
#include <hwy/highway.h>

#if HWY_TARGET == HWY_AVX3_DL
#include "headrace/decode/jpeg/unstuff_avx512-inl.h"
#else

HWY_BEFORE_NAMESPACE();
namespace headrace::jpeg::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D8 = hn::CappedTag<std::uint8_t, kUnstuffSlack>;

/// Copies up to the next 0xff, which is copied as well, or up to the end: true, or false.
HWY_INLINE bool copy_to_ff(const std::uint8_t*& from, const std::uint8_t* end, std::uint8_t*& to) {
  const D8 d;
  const auto lanes = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  while (end - from >= lanes) {
    const auto bytes = hn::LoadU(d, from);
    hn::StoreU(bytes, d, to);  // what lies behind the 0xff is overwritten by what comes next
    const std::ptrdiff_t at = hn::FindFirstTrue(d, hn::Eq(bytes, hn::Set(d, 0xff)));
    from += at < 0 ? lanes : at + 1;
    to += at < 0 ? lanes : at + 1;
    if (at >= 0) return true;
  }
  while (from < end) {
    if ((*to++ = *from++) == 0xff) return true;
  }
  return false;
}

Unstuffed Unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to,
                  const std::uint8_t* origin, std::vector<std::uint32_t>* zeros) {
  while (copy_to_ff(from, end, to)) {
    if (from == end) break;
    if (*from != 0) return {from - 1, to - 1};
    ++from;
    if (zeros != nullptr) zeros->push_back(static_cast<std::uint32_t>(to - origin));
  }
  return {from, to};
}

}  // namespace headrace::jpeg::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // HWY_AVX3_DL

#if HWY_ONCE
namespace headrace::jpeg {

HWY_EXPORT(Unstuff);

Unstuffed unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to,
                  const std::uint8_t* origin, std::vector<std::uint32_t>* zeros) {
  return HWY_DYNAMIC_DISPATCH(Unstuff)(from, end, to, origin, zeros);
}

}  // namespace headrace::jpeg
#endif
