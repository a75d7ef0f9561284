// SPDX-License-Identifier: Apache-2.0
/// \file The second step of lanes-inl.h, by AVX-512 with VBMI2: values out of entries, and to their
/// places. Included once, for that target.
#include <immintrin.h>

#include <bit>

#include "headrace/decode/jpeg/kernels.h"

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

/// What is stored and loaded at once beyond what is there.
constexpr std::size_t kValuesAtOnce = 32;

/// For each coefficient in the order of the inverse DCT, where the zigzag has it.
struct Zigzag {
  alignas(64) std::uint16_t at[2][32] = {};
};
constexpr Zigzag make_zigzag() {
  Zigzag zigzag;
  for (std::uint16_t k = 0; k < 64; ++k) {
    const std::size_t place = place_in_block(kNaturalOrder[k] / 8U, kNaturalOrder[k] % 8U);
    zigzag.at[place / 32][place % 32] = k;
  }
  return zigzag;
}
constexpr Zigzag kZigzag = make_zigzag();

/// Rows become columns: what one lane looked up, in one vector.
HWY_INLINE void transpose(const LaneEntry (&in)[kTile][kLanesEach], Vector (&out)[kLanesEach]) {
  Vector a[8], b[8];
  for (int i = 0; i < 8; i += 2) {
    const Vector x = _mm512_load_si512(in[i]), y = _mm512_load_si512(in[i + 1]);
    a[i] = _mm512_unpacklo_epi64(x, y);      // lanes 0 2 4 6, looks i and i + 1
    a[i + 1] = _mm512_unpackhi_epi64(x, y);  // lanes 1 3 5 7
  }
  for (int i = 0; i < 2; ++i) {
    b[i] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0x88);      // lanes i and i + 4, looks 0 to 3
    b[i + 2] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0xdd);  // lanes i + 2 and i + 6
    b[i + 4] = _mm512_shuffle_i64x2(a[i + 4], a[i + 6], 0x88);
    b[i + 6] = _mm512_shuffle_i64x2(a[i + 4], a[i + 6], 0xdd);
  }
  for (int i = 0; i < 4; ++i) {
    out[i] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0x88);
    out[i + 4] = _mm512_shuffle_i64x2(b[i], b[i + 4], 0xdd);
  }
}

/// Each lane's values of this tile, one behind the other. Of the lanes, `end` says where they go.
template <class Lane>
HWY_INLINE void take_values(const Tile& tile, std::array<Lane, kLaneCount>& lanes) {
  constexpr LaneEntry kIsThere = LaneEntry{1} << F::kFirst | LaneEntry{1} << F::kSecond;
  constexpr unsigned kBelow = 16 - F::kValueBits;  // a value has the upper bits of its word
  for (std::size_t v = 0; v < kVectors; ++v) {
    Vector columns[kLanesEach];
    transpose(tile.entries[v], columns);
    for (std::size_t i = 0; i < kLanesEach; ++i) {
      const __mmask32 there = _mm512_test_epi16_mask(columns[i], All(kIsThere));
      const Vector values = _mm512_maskz_compress_epi16(there, columns[i]);
      Lane& lane = lanes[v * kLanesEach + i];
      _mm512_storeu_si512(lane.end, _mm512_srai_epi16(values, kBelow));
      lane.end += std::popcount(there);
    }
  }
}

/// A block: its values go to these places of the zigzag, in the order of the inverse DCT.
HWY_INLINE void spread(const std::int16_t* values, std::uint64_t places, std::int16_t* out) {
  const auto low = static_cast<std::uint32_t>(places);
  const auto high = static_cast<std::uint32_t>(places >> 32U);
  const Vector first = _mm512_loadu_si512(values);
  const Vector rest = _mm512_loadu_si512(values + std::popcount(low));
  const Vector a = _mm512_maskz_expand_epi16(low, first);
  const Vector b = _mm512_maskz_expand_epi16(high, rest);
  const Vector upper = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[0]), b);
  const Vector lower = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[1]), b);
  const auto put = [&](int line, __m128i x) {
    _mm_store_si128(reinterpret_cast<__m128i*>(out + line * 32), x);
  };
  put(0, _mm512_castsi512_si128(upper));
  put(1, _mm512_extracti32x4_epi32(upper, 1));
  put(2, _mm512_extracti32x4_epi32(upper, 2));
  put(3, _mm512_extracti32x4_epi32(upper, 3));
  put(4, _mm512_castsi512_si128(lower));
  put(5, _mm512_extracti32x4_epi32(lower, 1));
  put(6, _mm512_extracti32x4_epi32(lower, 2));
  put(7, _mm512_extracti32x4_epi32(lower, 3));
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
