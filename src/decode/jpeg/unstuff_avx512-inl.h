// SPDX-License-Identifier: Apache-2.0
/// \file unstuff.h by AVX-512 with VBMI2, which takes bytes out of a vector: 64 at a time, however
/// many of them are stuffed. Included once, for that target.
#include <immintrin.h>

#include <bit>

#include "headrace/decode/jpeg/unstuff.h"

// Highway 1.0.3 has no compressing of bytes.
HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vbmi2")
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

Unstuffed Unstuff(const std::uint8_t* from, const std::uint8_t* end, std::uint8_t* to,
                  const std::uint8_t* origin, std::vector<std::uint32_t>* zeros) {
  std::uint64_t ff_before = 0;  // whether the last byte was one
  while (from < end) {
    const auto left = static_cast<std::uint64_t>(end - from);
    const std::uint64_t there = left >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left) - 1;
    const __m512i bytes = _mm512_maskz_loadu_epi8(there, from);
    const std::uint64_t ff = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(-1));
    const std::uint64_t behind = (ff << 1U | ff_before) & there;
    const std::uint64_t stuffed = _mm512_mask_testn_epi8_mask(behind, bytes, bytes);
    const std::uint64_t keep = there & ~stuffed;
    const std::uint64_t other = behind & ~stuffed;
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(keep, bytes));
    const std::uint64_t before = other == 0 ? ~std::uint64_t{0} : (other & -other) - 1;
    if (zeros != nullptr) {
      for (std::uint64_t rest = stuffed & before; rest != 0; rest &= rest - 1) {
        const std::uint64_t written = keep & ((rest & -rest) - 1);
        zeros->push_back(static_cast<std::uint32_t>(to - origin + std::popcount(written)));
      }
    }
    to += std::popcount(keep & before);
    if (other != 0) return {from + std::countr_zero(other) - 1, to - 1};
    ff_before = ff >> 63U;
    from += left >= 64 ? 64 : left;
  }
  return {from, to};
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_POP_ATTRIBUTES
