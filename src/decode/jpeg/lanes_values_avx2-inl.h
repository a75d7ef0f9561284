// SPDX-License-Identifier: Apache-2.0
/// \file lanes_values_avx512-inl.h for AVX2, where tables of permutations do what compressing and
/// expanding do there. Included once for each target.
#include <immintrin.h>

#include <bit>
#include <utility>

#include "headrace/decode/jpeg/kernels.h"

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

/// What is stored and loaded at once beyond what is there.
constexpr std::size_t kValuesAtOnce = 8;

/// For each mask of 8 words, those that it names one behind the other.
struct Compress8 {
  alignas(16) std::uint8_t at[256][16] = {};
};
constexpr Compress8 make_compress() {
  Compress8 all;
  for (std::size_t mask = 0; mask < 256; ++mask) {
    std::size_t to = 0;
    for (std::uint8_t i = 0; i < 8; ++i) {
      if ((mask >> i & 1U) == 0) continue;
      all.at[mask][2 * to] = static_cast<std::uint8_t>(2 * i);
      all.at[mask][2 * to + 1] = static_cast<std::uint8_t>(2 * i + 1);
      ++to;
    }
  }
  return all;
}
constexpr Compress8 kCompress = make_compress();

/// For each mask of 8 words, where the next values go: to those that it names.
struct Expand8 {
  alignas(16) std::uint8_t at[256][16] = {};
};
constexpr std::uint8_t kNothing = 0x80;  ///< as a permutation's index: 0
constexpr Expand8 make_expand() {
  Expand8 all;
  for (std::size_t mask = 0; mask < 256; ++mask) {
    std::uint8_t from = 0;
    for (std::size_t i = 0; i < 8; ++i) {
      const bool named = (mask >> i & 1U) != 0;
      all.at[mask][2 * i] = named ? from++ : kNothing;
      all.at[mask][2 * i + 1] = named ? from++ : kNothing;
    }
  }
  return all;
}
constexpr Expand8 kExpand = make_expand();

/// What each eighth of the zigzag gives to each two lines of the inverse DCT's order.
struct Zigzag {
  alignas(32) std::uint8_t at[4][8][32] = {};
  bool any[4][8] = {};
};
constexpr Zigzag make_zigzag() {
  Zigzag zigzag;
  for (auto& lines : zigzag.at)
    for (auto& eighth : lines)
      for (auto& index : eighth) index = kNothing;
  for (std::size_t k = 0; k < 64; ++k) {
    const std::size_t place = place_in_block(kNaturalOrder[k] / 8U, kNaturalOrder[k] % 8U);
    auto* const to = &zigzag.at[place / 16][k / 8][place % 16 * 2];
    to[0] = static_cast<std::uint8_t>(k % 8 * 2);
    to[1] = static_cast<std::uint8_t>(k % 8 * 2 + 1);
    zigzag.any[place / 16][k / 8] = true;
  }
  return zigzag;
}
constexpr Zigzag kZigzag = make_zigzag();

/// The values of four looks of a lane; where the next ones go.
HWY_INLINE std::int16_t* append(Vector entries, std::int16_t* to) {
  // The upper half of each entry: two words.
  const Vector upper =
      _mm256_permutevar8x32_epi32(entries, _mm256_setr_epi32(1, 3, 5, 7, 1, 3, 5, 7));
  const __m128i words = _mm256_castsi256_si128(upper);
  constexpr int kToSign = 15 - (F::kFirst - 32);
  const __m128i flags = _mm_slli_epi16(words, kToSign);
  const auto there =
      static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(flags, flags))) & 0xffU;
  const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(kCompress.at[there]));
  const __m128i values = _mm_srai_epi16(_mm_shuffle_epi8(words, order), 16 - F::kValueBits);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), values);
  return to + std::popcount(there);
}

/// Each lane's values of this tile, one behind the other. Of the lanes, `end` says where they go.
template <class Lane>
HWY_INLINE void take_values(const Tile& tile, std::array<Lane, kLaneCount>& lanes) {
  for (std::size_t v = 0; v < kVectors; ++v) {
    const auto& in = tile.entries[v];
    Lane* const lane = &lanes[v * kLanesEach];
    Vector half[2][kLanesEach];
    for (std::size_t i = 0; i < 2; ++i) {  // rows become columns
      const Vector a = Load(in[4 * i]), b = Load(in[4 * i + 1]);
      const Vector c = Load(in[4 * i + 2]), d = Load(in[4 * i + 3]);
      const Vector ab02 = _mm256_unpacklo_epi64(a, b), ab13 = _mm256_unpackhi_epi64(a, b);
      const Vector cd02 = _mm256_unpacklo_epi64(c, d), cd13 = _mm256_unpackhi_epi64(c, d);
      half[i][0] = _mm256_permute2x128_si256(ab02, cd02, 0x20);
      half[i][1] = _mm256_permute2x128_si256(ab13, cd13, 0x20);
      half[i][2] = _mm256_permute2x128_si256(ab02, cd02, 0x31);
      half[i][3] = _mm256_permute2x128_si256(ab13, cd13, 0x31);
    }
    static_assert(kTile == 8);
    for (std::size_t i = 0; i < kLanesEach; ++i)
      lane[i].end = append(half[1][i], append(half[0][i], lane[i].end));
  }
}

/// Two lines of a block, from all eighths of the zigzag that have something for them.
template <std::size_t kLines, std::size_t... kEighth>
HWY_INLINE void put_lines(const Vector (&eighths)[8], std::int16_t* out,
                          std::index_sequence<kEighth...>) {
  Vector lines = _mm256_setzero_si256();
  const auto add = [&]<std::size_t kE>(std::integral_constant<std::size_t, kE>) {
    if constexpr (kZigzag.any[kLines][kE]) {
      const auto* const order = reinterpret_cast<const Vector*>(kZigzag.at[kLines][kE]);
      lines = _mm256_or_si256(lines, _mm256_shuffle_epi8(eighths[kE], _mm256_load_si256(order)));
    }
  };
  (add(std::integral_constant<std::size_t, kEighth>()), ...);
  auto* const to = reinterpret_cast<__m128i*>(out + kLines * 64);
  _mm_store_si128(to, _mm256_castsi256_si128(lines));
  _mm_store_si128(to + 4, _mm256_extracti128_si256(lines, 1));
}

/// A block: its values go to these places of the zigzag, in the order of the inverse DCT.
HWY_INLINE void spread(const std::int16_t* values, std::uint64_t places, std::int16_t* out) {
  Vector eighths[8];
  for (std::size_t i = 0; i < 8; ++i, places >>= 8U) {
    const auto mask = static_cast<unsigned>(places & 0xffU);
    const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
    const __m128i order = _mm_load_si128(reinterpret_cast<const __m128i*>(kExpand.at[mask]));
    eighths[i] =
        _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(next), _mm256_broadcastsi128_si256(order));
    values += std::popcount(mask);
  }
  put_lines<0>(eighths, out, std::make_index_sequence<8>());
  put_lines<1>(eighths, out, std::make_index_sequence<8>());
  put_lines<2>(eighths, out, std::make_index_sequence<8>());
  put_lines<3>(eighths, out, std::make_index_sequence<8>());
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
