// SPDX-License-Identifier: Apache-2.0
/// \file lanes.h by AVX-512 with VBMI2. Included once, for that target.
//
// Two steps by turns. First all lanes look (lanes_looks_avx512-inl.h): a gather fetches their
// entries, which are kept as they are, with a mask of the places of the values that their blocks
// have so far. Then values are taken out of the entries, and of each block that has ended spread to
// their places (vpexpandw), brought from zigzag order to that of the inverse DCT, and stored.
// Nothing in the first step depends on what the bits mean: there is no branch, so none is
// mispredicted, and what one lane waits for, the others hide.
#include <immintrin.h>

#include <bit>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/lanes_looks_avx512-inl.h"

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vbmi2")
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

/// Of a lane's values that wait for the end of their block: it has 64 at most, each tile brings
/// two a look, and a store writes 32.
constexpr std::size_t kRoom = 256;
constexpr std::size_t kTilesToRoom = (kRoom - 64 - 32) / (2 * kTile);

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

class Lanes {
 public:
  explicit Lanes(const LaneJob& job) : job_(job), looks_(job) {}

  bool run() {
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) begin_next(lane);
    for (std::size_t tiles = 1; working_ > 0; ++tiles) {
      looks_.run();
      take_values();
      if (!take_blocks()) return false;
      if (tiles % kTilesToRoom == 0 && !make_room()) return false;
    }
    return true;
  }

 private:
  struct Lane {
    std::int16_t* values = nullptr;  ///< of the block at hand
    std::int16_t* end = nullptr;     ///< where the next ones go
    const RowBlock* block = nullptr;
    std::uint32_t left = 0;  ///< blocks; 0: what the lane reads means nothing
    std::int16_t* out = nullptr;
    std::array<std::int16_t, 3> predictors{};
  };

  /// The lane goes on with the next stretch, if there is one.
  void begin_next(std::size_t lane) {
    Lane& l = lanes_[lane];
    l.values = l.end = values_[lane];
    if (next_ == job_.stretches.size()) return looks_.begin(lane, job_.limit);
    const LaneStretch& stretch = job_.stretches[next_++];
    looks_.begin(lane, stretch.position);
    l.block = job_.row.data() + stretch.first_block;
    l.left = stretch.blocks;
    l.out = stretch.out;
    l.predictors = stretch.predictors;
    ++working_;
  }

  /// Rows become columns: what one lane looked up, in one vector.
  static void transpose(const LaneEntry (&in)[kTile][kLanesEach], Vector (&out)[kLanesEach]) {
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

  /// Each lane's values of this tile, one behind the other.
  void take_values() {
    constexpr LaneEntry kIsThere = LaneEntry{1} << F::kFirst | LaneEntry{1} << F::kSecond;
    constexpr unsigned kBelow = 16 - F::kValueBits;  // a value has the upper bits of its word
    for (std::size_t v = 0; v < kVectors; ++v) {
      Vector columns[kLanesEach];
      transpose(looks_.tile().entries[v], columns);
      for (std::size_t i = 0; i < kLanesEach; ++i) {
        const __mmask32 there = _mm512_test_epi16_mask(columns[i], All(kIsThere));
        const Vector values = _mm512_maskz_compress_epi16(there, columns[i]);
        Lane& lane = lanes_[v * kLanesEach + i];
        _mm512_storeu_si512(lane.end, _mm512_srai_epi16(values, kBelow));
        lane.end += std::popcount(there);
      }
    }
  }

  /// The blocks that ended in this tile.
  bool take_blocks() {
    const Tile& tile = looks_.tile();
    std::array<std::uint8_t, kMostEnded> ended;
    const std::size_t count = list_ended(tile, ended);
    std::array<std::uint8_t, kLaneCount> over;  // lanes whose stretch is
    std::size_t over_count = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t lane = ended[i] % kDoneBits, look = ended[i] / kDoneBits;
      if (lanes_[lane].left == 0) continue;
      if (HWY_UNLIKELY((tile.bad[look] >> lane & 1U) != 0)) return false;
      take_block(lanes_[lane], tile.notes[look][lane]);
      if (lanes_[lane].left == 0) over[over_count++] = static_cast<std::uint8_t>(lane);
    }
    for (std::size_t i = 0; i < over_count; ++i, --working_) begin_next(over[i]);
    return true;
  }

  static void take_block(Lane& lane, std::uint64_t places) {
    const auto low = static_cast<std::uint32_t>(places);
    const auto high = static_cast<std::uint32_t>(places >> 32U);
    const Vector first = _mm512_loadu_si512(lane.values);
    const Vector rest = _mm512_loadu_si512(lane.values + std::popcount(low));
    const Vector a = _mm512_maskz_expand_epi16(low, first);
    const Vector b = _mm512_maskz_expand_epi16(high, rest);
    const Vector upper = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[0]), b);
    const Vector lower = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[1]), b);
    const RowBlock& block = *lane.block++;
    std::int16_t& dc = lane.predictors[block.component];
    dc = static_cast<std::int16_t>(dc + *lane.values);
    lane.values += std::popcount(places);
    --lane.left;
    std::int16_t* const out = lane.out + block.out;
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
    out[0] = dc;
  }

  /// What waits goes to the beginning of its room.
  bool make_room() {
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      Lane& lane = lanes_[i];
      const std::ptrdiff_t waiting = lane.left > 0 ? lane.end - lane.values : 0;
      if (waiting > 64) return false;  // values beyond the end of a block: wrong bits
      const Vector a = _mm512_loadu_si512(lane.values);
      const Vector b = _mm512_loadu_si512(lane.values + 32);
      _mm512_store_si512(values_[i], a);
      _mm512_store_si512(values_[i] + 32, b);
      lane.values = values_[i];
      lane.end = values_[i] + waiting;
    }
    return true;
  }

  const LaneJob& job_;
  Looks<LookFor::values> looks_;
  std::array<Lane, kLaneCount> lanes_{};
  std::size_t next_ = 0;     ///< of the stretches
  std::size_t working_ = 0;  ///< lanes
  alignas(64) std::int16_t values_[kLaneCount][kRoom];
};

bool DecodeLanes(const LaneJob& job) { return Lanes(job).run(); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_POP_ATTRIBUTES
