// SPDX-License-Identifier: Apache-2.0
#include "expand.h"

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstring>

#define WITH_AVX512 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,popcnt"), always_inline))
#define WITH_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt"), always_inline))

namespace headrace::coefficients {
namespace {

constexpr std::size_t kGroup = 4, kGroupSize = 256, kLineStride = 32;

template <class T>
inline T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}
inline std::uint64_t mask_of(const BlockRow& row, std::size_t block) {
  return load<std::uint64_t>(row.masks + block * 8);
}
inline std::int16_t dc_of(const BlockRow& row, std::size_t block) {
  return load<std::int16_t>(row.dcs + block * 2);
}

/// Bytes of values that these blocks have.
__attribute__((target("popcnt"))) std::size_t values_of(const BlockRow& row, std::size_t first,
                                                        std::size_t last) {
  std::size_t bytes = 0;
  for (std::size_t b = first; b < last; ++b) {
    const std::uint64_t mask = mask_of(row, b);
    bytes += static_cast<std::size_t>(std::popcount(mask >> 1U)) << (mask & 1U);
  }
  return bytes;
}

/// A block's lines 0 to 3 and 4 to 7.
struct Block {
  __m512i upper, lower;
};

WITH_AVX512 inline Block expand_block(std::uint64_t mask, std::int16_t dc,
                                      const std::uint8_t*& values) {
  const std::uint64_t places = mask & ~std::uint64_t{1};
  Block block;
  if ((mask & 1U) == 0) [[likely]] {
    const __m512i all = _mm512_maskz_expand_epi8(places, _mm512_loadu_si512(values));
    block.upper = _mm512_cvtepi8_epi16(_mm512_castsi512_si256(all));
    block.lower = _mm512_cvtepi8_epi16(_mm512_extracti64x4_epi64(all, 1));
    values += std::popcount(places);
  } else {
    const auto upper = static_cast<std::uint32_t>(places);
    block.upper = _mm512_maskz_expand_epi16(upper, _mm512_loadu_si512(values));
    values += std::ptrdiff_t{2} * std::popcount(upper);
    const auto lower = static_cast<std::uint32_t>(places >> 32U);
    block.lower = _mm512_maskz_expand_epi16(lower, _mm512_loadu_si512(values));
    values += std::ptrdiff_t{2} * std::popcount(lower);
  }
  block.upper = _mm512_mask_set1_epi16(block.upper, 1, dc);
  return block;
}

/// Four lines of four blocks: line by line.
WITH_AVX512 inline void store_lines(__m512i a, __m512i b, __m512i c, __m512i d, std::int16_t* out) {
  const __m512i ab01 = _mm512_shuffle_i64x2(a, b, 0x44), ab23 = _mm512_shuffle_i64x2(a, b, 0xee);
  const __m512i cd01 = _mm512_shuffle_i64x2(c, d, 0x44), cd23 = _mm512_shuffle_i64x2(c, d, 0xee);
  _mm512_store_si512(out, _mm512_shuffle_i64x2(ab01, cd01, 0x88));
  _mm512_store_si512(out + kLineStride, _mm512_shuffle_i64x2(ab01, cd01, 0xdd));
  _mm512_store_si512(out + 2 * kLineStride, _mm512_shuffle_i64x2(ab23, cd23, 0x88));
  _mm512_store_si512(out + 3 * kLineStride, _mm512_shuffle_i64x2(ab23, cd23, 0xdd));
}

/// For each byte of a mask, where its eight places take their values from; 0x80: a zero.
using Shuffles = std::array<std::array<std::uint8_t, 8>, 256>;
constexpr Shuffles make_shuffles() {
  Shuffles shuffles{};
  for (unsigned mask = 0; mask < 256; ++mask) {
    std::uint8_t next = 0;
    for (unsigned i = 0; i < 8; ++i) {
      const bool there = (mask >> i & 1U) != 0;
      shuffles[mask][i] = there ? next++ : std::uint8_t{0x80};
    }
  }
  return shuffles;
}
alignas(64) constexpr Shuffles kShuffles = make_shuffles();

WITH_AVX2 inline void expand_wide(std::uint64_t places, const std::uint8_t*& values,
                                  std::int16_t* out) {
  for (std::size_t line = 0; line < 8; ++line) std::memset(out + line * kLineStride, 0, 16);
  for (; places != 0; places &= places - 1, values += 2) {
    const auto place = static_cast<std::size_t>(std::countr_zero(places));
    out[place / 8 * kLineStride + place % 8] = load<std::int16_t>(values);
  }
}

WITH_AVX2 inline void expand_block(std::uint64_t mask, std::int16_t dc, const std::uint8_t*& values,
                                   std::int16_t* out) {
  const std::uint64_t places = mask & ~std::uint64_t{1};
  if ((mask & 1U) != 0) [[unlikely]] {
    expand_wide(places, values, out);
  } else {
    // How many bits each byte has; then, how many the bytes up to each have.
    std::uint64_t counts = places - (places >> 1U & 0x5555555555555555U);
    counts = (counts & 0x3333333333333333U) + (counts >> 2U & 0x3333333333333333U);
    counts = (counts + (counts >> 4U)) & 0x0f0f0f0f0f0f0f0fU;
    const std::uint64_t sums = counts * 0x0101010101010101U;
    const std::uint64_t before = sums << 8U;
    for (std::size_t line = 0; line < 8; ++line) {
      const std::size_t from = before >> (8 * line) & 0xffU;
      const auto* shuffle = kShuffles[places >> (8 * line) & 0xffU].data();
      const __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(values + from));
      const __m128i spread =
          _mm_shuffle_epi8(packed, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(shuffle)));
      _mm_store_si128(reinterpret_cast<__m128i*>(out + line * kLineStride),
                      _mm_cvtepi8_epi16(spread));
    }
    values += sums >> 56U;
  }
  out[0] = dc;
}

}  // namespace

__attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi2,bmi,bmi2,popcnt")))
std::optional<std::size_t>
expand_avx512(const BlockRow& row, std::size_t first, std::size_t last, std::int16_t* out) {
  const std::size_t before = values_of(row, 0, first), taken = values_of(row, first, last);
  if (before + taken > row.size) return std::nullopt;
  const std::uint8_t* values = row.values + before;
  for (std::size_t b = first; b < last; b += kGroup, out += kGroupSize) {
    Block blocks[kGroup];
    for (std::size_t i = 0; i < kGroup; ++i) {
      const bool there = b + i < last;
      blocks[i] = there ? expand_block(mask_of(row, b + i), dc_of(row, b + i), values)
                        : Block{_mm512_setzero_si512(), _mm512_setzero_si512()};
    }
    store_lines(blocks[0].upper, blocks[1].upper, blocks[2].upper, blocks[3].upper, out);
    store_lines(blocks[0].lower, blocks[1].lower, blocks[2].lower, blocks[3].lower,
                out + 4 * kLineStride);
  }
  return taken;
}

__attribute__((target("avx2,bmi,bmi2,popcnt"))) std::optional<std::size_t> expand_avx2(
    const BlockRow& row, std::size_t first, std::size_t last, std::int16_t* out) {
  const std::size_t before = values_of(row, 0, first), taken = values_of(row, first, last);
  if (before + taken > row.size) return std::nullopt;
  const std::uint8_t* values = row.values + before;
  for (std::size_t b = first; b < last; b += kGroup, out += kGroupSize) {
    for (std::size_t i = 0; i < kGroup; ++i) {
      const bool there = b + i < last;
      expand_block(there ? mask_of(row, b + i) : 0, there ? dc_of(row, b + i) : std::int16_t{0},
                   values, out + i * 8);
    }
  }
  return taken;
}

}  // namespace headrace::coefficients
