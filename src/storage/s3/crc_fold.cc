// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/crc_fold.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

namespace headrace::s3 {

#ifdef __x86_64__
namespace {

__attribute__((target("pclmul,sse4.1"))) inline __m128i load(const std::byte* at) {
  const void* const from = at;
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i pair(
    const std::array<std::uint64_t, 2>& of) {
  return _mm_set_epi64x(static_cast<std::int64_t>(of[1]), static_cast<std::int64_t>(of[0]));
}

__attribute__((target("pclmul,sse4.1"))) inline __m128i move(__m128i what, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(what, factors, 0x00),
                       _mm_clmulepi64_si128(what, factors, 0x11));
}

}  // namespace

bool can_fold() {
  static const bool can = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return can;
}

// Four stretches side by side, since a product takes as long as eight that begin one after another.
__attribute__((target("pclmul,sse4.1"))) std::array<std::byte, 16> fold(const CrcFactors& factors,
                                                                        std::uint64_t state,
                                                                        ByteSpan bytes) {
  const std::byte* at = bytes.data();
  std::size_t left = bytes.size() - 64;
  __m128i a = _mm_xor_si128(load(at), _mm_cvtsi64_si128(static_cast<std::int64_t>(state)));
  __m128i b = load(at + 16);
  __m128i c = load(at + 32);
  __m128i d = load(at + 48);
  at += 64;
  const __m128i by64 = pair(factors.by64);
  for (; left >= 64; left -= 64, at += 64) {
    a = _mm_xor_si128(move(a, by64), load(at));
    b = _mm_xor_si128(move(b, by64), load(at + 16));
    c = _mm_xor_si128(move(c, by64), load(at + 32));
    d = _mm_xor_si128(move(d, by64), load(at + 48));
  }
  const __m128i by16 = pair(factors.by16);
  a = _mm_xor_si128(move(a, by16), b);
  a = _mm_xor_si128(move(a, by16), c);
  a = _mm_xor_si128(move(a, by16), d);
  for (; left != 0; left -= 16, at += 16) a = _mm_xor_si128(move(a, by16), load(at));
  std::array<std::byte, 16> rest{};
  void* const to = rest.data();
  _mm_storeu_si128(static_cast<__m128i*>(to), a);
  return rest;
}
#else
bool can_fold() { return false; }

std::array<std::byte, 16> fold(const CrcFactors& /*factors*/, std::uint64_t /*state*/,
                               ByteSpan /*bytes*/) {
  return {};
}
#endif

}  // namespace headrace::s3
