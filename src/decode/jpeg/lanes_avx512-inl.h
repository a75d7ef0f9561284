// SPDX-License-Identifier: Apache-2.0
/// \file lanes.h by AVX-512 with VBMI2. Included once, for that target.
//
// Two steps by turns, each a tile of kTile looks of every lane. First all lanes look: a gather
// fetches their entries, which are kept as they are, with the mask of the values that their blocks
// have so far. Then, block by block, values are taken out of the entries, spread to where the mask
// says (vpexpandw), brought from zigzag order to that of the inverse DCT, and stored. No step of
// the first depends on what the bits mean: no branch, so none is mispredicted, and what a lane
// waits for, the others hide.
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/pair_tables.h"

HWY_PUSH_ATTRIBUTES(HWY_TARGET_STR_AVX3 ",avx512vbmi,avx512vbmi2")
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

constexpr std::size_t kVectors = 4;  // divides 8
constexpr std::size_t kLanesEach = 8;
constexpr std::size_t kLaneCount = kVectors * kLanesEach;
constexpr std::size_t kTile = 8;         // looks
constexpr std::size_t kRound = 4;        // looks to a refill
constexpr std::size_t kValueRoom = 256;  // a block has 64, a tile brings 16, a store writes 32

using Vector = __m512i;

HWY_INLINE Vector All(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
template <int kShift>
HWY_INLINE Vector Field(Vector x, std::uint64_t mask) {
  return _mm512_and_si512(_mm512_srli_epi64(x, kShift), All(mask));
}

/// What eight lanes carry from look to look.
struct Looking {
  Vector window;    ///< the next bits, from the top
  Vector position;  ///< of the window's first bit
  Vector p;         ///< coefficients of the block so far
  Vector places;    ///< a bit for each value of the block so far
  Vector table;     ///< which half of `tables`, and the slot: 8 for AC
  Vector base;      ///< of the table, in entries
};

/// The same between tiles, where lanes get new work.
struct alignas(64) State {
  std::uint64_t position[kLaneCount];
  std::uint64_t p[kLaneCount];
  std::uint64_t places[kLaneCount];
  std::uint64_t table[kLaneCount];
};

/// What the first step leaves for the second.
struct alignas(64) Tile {
  LaneEntry entries[kVectors][kTile][kLanesEach];
  std::uint64_t places[kTile][kLaneCount];
  std::uint8_t done[kTile][kVectors];  ///< a bit for each lane whose block ended with this look
  std::uint32_t bad[kTile];   ///< and for each that met no code: its block ends, too
};

/// What a look found.
struct Symbols {
  Vector entry, bits, advance, places;
};

struct Tables {
  Vector dc, ac;  ///< for each slot, where its table begins
  Vector next;    ///< the slot behind each
};

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
  explicit Lanes(const LaneJob& job) : job_(job) {
    alignas(64) std::uint64_t dc[8] = {}, ac[8] = {}, next[8] = {};
    for (std::size_t i = 0; i < job.slots; ++i) {
      dc[i] = job.first_entry[i] + LaneTables::kDc * kLaneTable;
      ac[i] = job.first_entry[i] + LaneTables::kAcPairs * kLaneTable;
      next[i] = i + 1 < job.slots ? i + 1 : 0;
    }
    tables_ = {_mm512_load_si512(dc), _mm512_load_si512(ac), _mm512_load_si512(next)};
  }

  bool run() {
    for (std::size_t lane = 0; lane < kLaneCount; ++lane) begin_next(lane);
    while (left_ > 0) {
      look_tile(std::make_index_sequence<kVectors>());
      take_values();
      if (!take_blocks()) return false;
    }
    return true;
  }

 private:
  /// One lane's work in the second step.
  struct Lane {
    std::int16_t* values = nullptr;  ///< of the block at hand
    std::int16_t* end = nullptr;     ///< where the next tile's go
    const LaneBlock* block = nullptr;
    std::uint32_t left = 0;  ///< blocks
    std::int16_t* out = nullptr;
    std::array<std::int16_t, 3> predictors{};
  };

  void begin_next(std::size_t lane) {
    Lane& l = lanes_[lane];
    l.values = l.end = values_[lane];
    state_.p[lane] = state_.places[lane] = state_.table[lane] = 0;
    state_.position[lane] = job_.limit;
    if (next_ == job_.stretches.size()) return;
    const LaneStretch& stretch = job_.stretches[next_++];
    state_.position[lane] = stretch.position;
    l.block = job_.row.data() + stretch.first_block;
    l.left = stretch.blocks;
    l.out = stretch.out;
    l.predictors = stretch.predictors;
    ++left_;
  }

  HWY_INLINE Looking refill(Looking l) const {
    l.position = _mm512_min_epu64(l.position, All(job_.limit));
    const Vector bytes = _mm512_i64gather_epi64(_mm512_srli_epi64(l.position, 3), job_.bytes, 1);
    const Vector swap = _mm512_set_epi8(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
                                        10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
                                        11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
                                        12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    l.window = _mm512_sllv_epi64(_mm512_shuffle_epi8(bytes, swap),
                                 _mm512_and_si512(l.position, All(7)));
    return l;
  }

  HWY_INLINE Vector look(const Looking& l) const {
    const Vector index = _mm512_add_epi64(_mm512_srli_epi64(l.window, 64 - kLaneLookBits), l.base);
    return _mm512_i64gather_epi64(index, job_.entries, sizeof(LaneEntry));
  }

  /// All that an entry changes, and what is left of it for the second step.
  HWY_INLINE Looking take(Looking l, const Symbols& s, std::size_t vector, std::size_t at) {
    l.places = _mm512_or_si512(l.places, _mm512_sllv_epi64(s.places, l.p));
    l.window = _mm512_sllv_epi64(l.window, s.bits);
    l.position = _mm512_add_epi64(l.position, s.bits);
    l.p = _mm512_add_epi64(l.p, s.advance);
    _mm512_store_si512(tile_.entries[vector][at], s.entry);
    _mm512_store_si512(tile_.places[at] + vector * kLanesEach, l.places);
    const __mmask8 done = _mm512_cmpge_epu64_mask(l.p, All(64));
    tile_.done[at][vector] = done;
    const auto on = static_cast<__mmask8>(~done);
    l.p = _mm512_maskz_mov_epi64(on, l.p);
    l.places = _mm512_maskz_mov_epi64(on, l.places);
    const __mmask8 begun = _mm512_test_epi64_mask(l.p, l.p);
    l.table = _mm512_mask_or_epi64(l.table, begun, l.table, All(8));
    l.table = _mm512_mask_permutexvar_epi64(l.table, done, l.table, tables_.next);
    return with_base(l);
  }

  HWY_INLINE Looking with_base(Looking l) const {
    l.base = _mm512_permutex2var_epi64(tables_.dc, l.table, tables_.ac);
    const __mmask8 singles = _mm512_cmpge_epu64_mask(l.p, All(kSinglesFrom));
    l.base = _mm512_mask_add_epi64(l.base, singles, l.base, All(kLaneTable));
    return l;
  }

  HWY_INLINE static Symbols usual(Vector entry) {
    return {entry, _mm512_and_si512(entry, All(63)), Field<8>(entry, 127),
            Field<16>(entry, 0x7fff)};
  }

  HWY_INLINE Looking short_look(const Looking& l, std::size_t vector, std::size_t at) {
    return take(l, usual(look(l)), vector, at);
  }

  /// The same for symbols whose values lie beyond the look. A window has just been filled.
  HWY_INLINE Looking long_look(const Looking& l, std::size_t vector, std::size_t at) {
    const Vector entry = look(l);
    const __mmask8 is_long = _mm512_test_epi64_mask(entry, All(kLongWay));
    const __mmask8 longer = _mm512_test_epi64_mask(entry, All(kLongerWay));
    // What it changes stands in the upper half; how many bits its value has, above.
    Symbols s = usual(_mm512_mask_srli_epi64(entry, is_long, entry, 32));
    s.places = _mm512_mask_and_epi64(s.places, is_long, s.places, All(kLongPlaces));
    const Vector half = _mm512_sllv_epi64(All(1), _mm512_srli_epi64(entry, 64 - kSizeBits));
    const Vector ones = _mm512_sub_epi64(_mm512_add_epi64(half, half), All(1));
    const Vector raw = _mm512_and_si512(
        _mm512_srlv_epi64(l.window, _mm512_sub_epi64(All(64), s.bits)), ones);
    const __mmask8 negative = _mm512_testn_epi64_mask(raw, half);
    const Vector value = _mm512_mask_sub_epi64(raw, negative, raw, ones);
    const Vector held = _mm512_or_si512(
        _mm512_srli_epi64(_mm512_slli_epi64(value, 48), 16), All(kFirstValue));
    s.entry = _mm512_mask_mov_epi64(entry, is_long, held);
    if (HWY_UNLIKELY(longer != 0)) {
      const Longer all = longer_ways(l.window, l.table, longer, s);
      tile_.bad[at] |= std::uint32_t{all.bad} << (vector * kLanesEach);
      return refill(take(l, all.symbols, vector, at));  // looks count on more bits than are left
    }
    return take(l, s, vector, at);
  }

  struct Longer {
    Symbols symbols;
    std::uint8_t bad = 0;  ///< a bit for each lane without a code
  };
  /// Codes longer than a look, one by one.
  HWY_NOINLINE Longer longer_ways(Vector windows, Vector tables, __mmask8 lanes, Symbols s) const {
    alignas(64) std::uint64_t window[8], table[8], e[8], b[8], a[8], v[8];
    _mm512_store_si512(window, windows);
    _mm512_store_si512(table, tables);
    _mm512_store_si512(e, s.entry);
    _mm512_store_si512(b, s.bits);
    _mm512_store_si512(a, s.advance);
    _mm512_store_si512(v, s.places);
    unsigned bad = 0;
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      const bool ac = table[i] >= 8;
      const Symbol symbol = job_.tables[table[i] % 8]->code(ac).find(
          static_cast<std::uint32_t>(window[i] >> 48U));
      if (symbol.length == 0) {
        bad |= 1U << i;  // which means nothing where a lane has no more work
        a[i] = 64;
        continue;
      }
      const std::uint32_t size = value_bits(symbol, ac);
      const auto raw = static_cast<std::uint32_t>(window[i] << symbol.length >> 1U >> (63 - size));
      const bool has_value = size != 0 || !ac;
      const std::int32_t value = size == 0 ? 0 : extend(raw, size);
      a[i] = advance(symbol, ac);
      b[i] = symbol.length + size;
      v[i] = has_value ? std::uint64_t{1} << (a[i] - 1) : 0;
      e[i] = has_value ? kFirstValue | std::uint64_t{static_cast<std::uint16_t>(value)} << 32U : 0;
    }
    return {{_mm512_load_si512(e), _mm512_load_si512(b), _mm512_load_si512(a),
             _mm512_load_si512(v)},
            static_cast<std::uint8_t>(bad)};
  }

  HWY_INLINE Looking load(std::size_t vector) const {
    const std::size_t lane = vector * kLanesEach;
    Looking l;
    l.position = _mm512_load_si512(state_.position + lane);
    l.p = _mm512_load_si512(state_.p + lane);
    l.places = _mm512_load_si512(state_.places + lane);
    l.table = _mm512_load_si512(state_.table + lane);
    return with_base(l);
  }
  HWY_INLINE void store(const Looking& l, std::size_t vector) {
    const std::size_t lane = vector * kLanesEach;
    _mm512_store_si512(state_.position + lane, l.position);
    _mm512_store_si512(state_.p + lane, l.p);
    _mm512_store_si512(state_.places + lane, l.places);
    _mm512_store_si512(state_.table + lane, l.table);
  }

  /// The first step. All in registers, as far as there are any.
  template <std::size_t... kV>
  HWY_INLINE void look_tile(std::index_sequence<kV...>) {
    Looking all[] = {load(kV)...};
    for (std::size_t at = 0; at < kTile; at += kRound) {
      tile_.bad[at] = 0;
      ((all[kV] = refill(all[kV])), ...);
      ((all[kV] = long_look(all[kV], kV, at)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 1)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 2)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 3)), ...);
    }
    (store(all[kV], kV), ...);
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
      b[i] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0x88);      // lanes 0 4 of looks 0-1, then of 2-3
      b[i + 2] = _mm512_shuffle_i64x2(a[i], a[i + 2], 0xdd);  // lanes 2 6
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
    for (std::size_t v = 0; v < kVectors; ++v) {
      Vector columns[kLanesEach];
      transpose(tile_.entries[v], columns);
      for (std::size_t i = 0; i < kLanesEach; ++i) {
        // The signs of an entry's lower words say which of the upper two are values.
        const std::uint32_t held = (_mm512_movepi16_mask(columns[i]) & 0x33333333U) << 2U;
        Lane& lane = lanes_[v * kLanesEach + i];
        _mm512_storeu_si512(lane.end, _mm512_maskz_compress_epi16(held, columns[i]));
        lane.end += std::popcount(held);
      }
    }
  }

  /// The second step for what is whole.
  bool take_blocks() {
    // Several looks at once: a loop that ends more seldom is mispredicted more seldom.
    constexpr std::size_t kLooks = sizeof(std::uint64_t) / kVectors;
    for (std::size_t at = 0; at < kTile; at += kLooks) {
      std::uint64_t done = 0;
      std::memcpy(&done, tile_.done[at], sizeof done);
      for (; done != 0; done &= done - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(done));
        const std::size_t lane = bit % kLaneCount, look = at + bit / kLaneCount;
        if (lanes_[lane].left == 0) continue;
        if ((tile_.bad[look] >> lane & 1U) != 0) return false;
        take_block(lanes_[lane], tile_.places[look][lane]);
      }
    }
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      Lane& lane = lanes_[i];
      if (lane.left == 0) {
        if (lane.out != nullptr) {
          --left_;
          lane.out = nullptr;
        }
        begin_next(i);
      } else if (lane.end - values_[i] > static_cast<std::ptrdiff_t>(kValueRoom - 48)) {
        if (lane.end - lane.values > 64) return false;  // more than a block can have
        lane.end = std::copy(lane.values, lane.end, values_[i]);
        lane.values = values_[i];
      }
    }
    return true;
  }

  static void take_block(Lane& lane, std::uint64_t places) {
    const auto low = static_cast<std::uint32_t>(places);
    const auto high = static_cast<std::uint32_t>(places >> 32U);
    const std::int16_t* const values = lane.values;
    const std::int16_t* const upper = values + std::popcount(low);
    const Vector a = _mm512_maskz_expand_epi16(low, _mm512_loadu_si512(values));
    const Vector b = _mm512_maskz_expand_epi16(high, _mm512_loadu_si512(upper));
    const LaneBlock& block = *lane.block++;
    std::int16_t& dc = lane.predictors[block.component];
    dc = static_cast<std::int16_t>(dc + *values);
    lane.values += std::popcount(places);
    --lane.left;
    std::int16_t* const out = lane.out + block.out;
    const Vector upper_lines = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[0]), b);
    const Vector lower_lines = _mm512_permutex2var_epi16(a, _mm512_load_si512(kZigzag.at[1]), b);
    const auto put = [&](int row, __m128i x) {
      _mm_store_si128(reinterpret_cast<__m128i*>(out + row * 32), x);
    };
    put(0, _mm512_castsi512_si128(upper_lines));
    put(1, _mm512_extracti32x4_epi32(upper_lines, 1));
    put(2, _mm512_extracti32x4_epi32(upper_lines, 2));
    put(3, _mm512_extracti32x4_epi32(upper_lines, 3));
    put(4, _mm512_castsi512_si128(lower_lines));
    put(5, _mm512_extracti32x4_epi32(lower_lines, 1));
    put(6, _mm512_extracti32x4_epi32(lower_lines, 2));
    put(7, _mm512_extracti32x4_epi32(lower_lines, 3));
    out[0] = dc;
  }

  const LaneJob& job_;
  Tables tables_;
  State state_;
  Tile tile_{};
  std::array<Lane, kLaneCount> lanes_{};
  std::size_t next_ = 0;  ///< of the stretches
  std::size_t left_ = 0;  ///< stretches at hand
  alignas(64) std::int16_t values_[kLaneCount][kValueRoom];
};

bool DecodeLanes(const LaneJob& job) { return Lanes(job).run(); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_POP_ATTRIBUTES
