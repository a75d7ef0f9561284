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

constexpr std::size_t kVectors = 4;
constexpr std::size_t kDoneBytes = std::bit_ceil(kVectors), kDoneBits = 8 * kDoneBytes;
constexpr std::size_t kLanesEach = 8;
constexpr std::size_t kLaneCount = kVectors * kLanesEach;
constexpr std::size_t kTile = 8;         // looks
constexpr std::size_t kRound = 4;        // looks to a refill
/// Of values: a block has 64, each tile brings 16, and a store writes 32.
constexpr std::size_t kValueRoom = 256;
constexpr std::size_t kTilesToRoom = (kValueRoom - 64 - 32) / 16;

using Vector = __m512i;

HWY_INLINE Vector All(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }
/// What eight lanes carry from look to look.
struct Looking {
  Vector window;    ///< the next bits, from the top; what is behind them means nothing
  Vector position;  ///< of the window's first bit when it was filled
  Vector sums;      ///< of entries from kAdvance on: p in bits 0–6, then bits taken; see below
  Vector places;    ///< a bit for each value of the block so far
  Vector table;     ///< the slot, and 8 for AC
  Vector base;      ///< of the table, in entries
};
// Of `sums` bits 8–13 are the bits that a window has lost. What is added above them means nothing.
constexpr std::uint64_t kP = 0x7f, kPBelow64 = 0x3f, kPDone = 0x40;
constexpr unsigned kLost = LaneField::kBitsAgain - LaneField::kAdvance;
static_assert((kSinglesFrom & -kSinglesFrom) + kSinglesFrom == 64, "all bits set say: this or more");

/// The same between tiles, where lanes get new work.
struct alignas(64) State {
  std::uint64_t position[kLaneCount];
  std::uint64_t sums[kLaneCount];
  std::uint64_t places[kLaneCount];
  std::uint64_t table[kLaneCount];
};

/// What the first step leaves for the second.
struct alignas(64) Tile {
  LaneEntry entries[kVectors][kTile][kLanesEach];
  std::uint64_t places[kTile][kLaneCount];
  std::uint8_t done[kTile][kDoneBytes];  ///< a bit for each lane whose block ended with this look
  std::uint32_t bad[kTile];   ///< and for each that met no code: its block ends, too
};

/// What a look found: by how much the window turns, what goes to the sums, which places.
struct Symbols {
  Vector entry, turn, step, places;
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

struct UpTo64 {
  alignas(64) std::uint8_t at[64] = {};
};
constexpr UpTo64 make_up_to_64() {
  UpTo64 all;
  for (std::uint8_t i = 0; i < 64; ++i) all.at[i] = i;
  return all;
}
constexpr UpTo64 kUpTo64 = make_up_to_64();

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
    state_.sums[lane] = state_.places[lane] = state_.table[lane] = 0;
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
    const Vector lost = _mm512_and_si512(_mm512_srli_epi64(l.sums, kLost), All(63));
    l.position = _mm512_min_epu64(_mm512_add_epi64(l.position, lost), All(job_.limit));
    l.sums = _mm512_and_si512(l.sums, All(kP));
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

  /// All that an entry changes, and what is left of it for the second step. Rotations, not shifts:
  /// they take no notice of a count's upper bits.
  HWY_INLINE Looking take(Looking l, const Symbols& s, std::size_t vector, std::size_t at) {
    l.places = _mm512_or_si512(l.places, _mm512_rolv_epi64(s.places, l.sums));
    l.window = _mm512_rolv_epi64(l.window, s.turn);
    l.sums = _mm512_add_epi64(l.sums, s.step);
    _mm512_store_si512(tile_.entries[vector][at], s.entry);
    _mm512_store_si512(tile_.places[at] + vector * kLanesEach, l.places);
    const __mmask8 done = _mm512_test_epi64_mask(l.sums, All(kPDone));
    tile_.done[at][vector] = done;
    l.sums = _mm512_mask_and_epi64(l.sums, done, l.sums, All(~kP));
    l.places = _mm512_maskz_mov_epi64(static_cast<__mmask8>(~done), l.places);
    const __mmask8 begun = _mm512_test_epi64_mask(l.sums, All(kPBelow64));
    l.table = _mm512_mask_or_epi64(l.table, begun, l.table, All(8));
    l.table = _mm512_mask_permutexvar_epi64(l.table, done, l.table, tables_.next);
    return with_base(l);
  }

  HWY_INLINE Looking with_base(Looking l) const {
    l.base = _mm512_permutex2var_epi64(tables_.dc, l.table, tables_.ac);
    const __mmask8 singles = _mm512_cmpeq_epi64_mask(
        _mm512_and_si512(l.sums, All(kSinglesFrom)), All(kSinglesFrom));
    l.base = _mm512_mask_add_epi64(l.base, singles, l.base, All(kLaneTable));
    return l;
  }

  HWY_INLINE static Symbols usual(Vector entry) {
    constexpr LaneEntry kPlaces = (1U << LaneField::kPlaceBits) - 1;
    return {entry, entry, _mm512_srli_epi64(entry, LaneField::kAdvance),
            _mm512_and_si512(_mm512_srli_epi64(entry, LaneField::kPlaces), All(kPlaces))};
  }

  HWY_INLINE Looking short_look(const Looking& l, std::size_t vector, std::size_t at) {
    return take(l, usual(look(l)), vector, at);
  }

  /// The same for symbols whose values lie beyond the look. A window has just been filled.
  HWY_INLINE Looking long_look(const Looking& l, std::size_t vector, std::size_t at) {
    using F = LaneField;
    const Vector entry = look(l);
    Symbols s = usual(entry);
    const __mmask8 is_long = _mm512_test_epi64_mask(entry, All(F::kLongWay));
    const __mmask8 longer = _mm512_test_epi64_mask(entry, All(F::kLongerWay));
    s.turn = _mm512_mask_srli_epi64(s.turn, is_long, entry, F::kLongBits);
    s.step = _mm512_mask_srli_epi64(s.step, is_long, entry, F::kLongAdvance);
    const Vector before_first = All(std::uint64_t{1} << 63U);
    s.places = _mm512_mask_rolv_epi64(s.places, is_long, before_first, s.step);
    const Vector half = _mm512_sllv_epi64(All(1), _mm512_srli_epi64(entry, F::kLongSize));
    const Vector ones = _mm512_or_si512(half, _mm512_sub_epi64(half, All(1)));
    const Vector raw = _mm512_and_si512(_mm512_rolv_epi64(l.window, s.turn), ones);
    const __mmask8 negative = _mm512_testn_epi64_mask(raw, half);
    const Vector value = _mm512_mask_sub_epi64(raw, negative, raw, ones);
    const Vector held = _mm512_or_si512(
        _mm512_srli_epi64(_mm512_slli_epi64(value, 64 - F::kValueBits), 16), All(held_flag()));
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
    alignas(64) std::uint64_t window[8], table[8], entry[8], turn[8], step[8], places[8];
    _mm512_store_si512(window, windows);
    _mm512_store_si512(table, tables);
    _mm512_store_si512(entry, s.entry);
    _mm512_store_si512(turn, s.turn);
    _mm512_store_si512(step, s.step);
    _mm512_store_si512(places, s.places);
    unsigned bad = 0;
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      const bool ac = table[i] >= 8;
      const Symbol symbol = job_.tables[table[i] % 8]->code(ac).find(
          static_cast<std::uint32_t>(window[i] >> 48U));
      if (symbol.length == 0) {
        bad |= 1U << i;  // which means nothing where a lane has no more work
        step[i] = 64;
        continue;
      }
      const std::uint32_t size = value_bits(symbol, ac);
      turn[i] = symbol.length + size;
      step[i] = advance(symbol, ac) | turn[i] << kLost;
      if (size == 0 && ac) continue;
      const auto raw = static_cast<std::uint32_t>(window[i] << symbol.length >> 1U >> (63 - size));
      const std::int32_t value = size == 0 ? 0 : extend(raw, size);
      const auto field = static_cast<std::uint64_t>(value) << (64 - LaneField::kValueBits);
      entry[i] = field >> 16U | held_flag();
      places[i] = std::uint64_t{1} << (advance(symbol, ac) - 1);
    }
    return {{_mm512_load_si512(entry), _mm512_load_si512(turn), _mm512_load_si512(step),
             _mm512_load_si512(places)},
            static_cast<std::uint8_t>(bad)};
  }

  /// Of an entry that holds one value and nothing else, kept for the second step.
  static constexpr LaneEntry held_flag() { return LaneEntry{1} << LaneField::kFirst; }

  HWY_INLINE Looking load(std::size_t vector) const {
    const std::size_t lane = vector * kLanesEach;
    Looking l;
    l.position = _mm512_load_si512(state_.position + lane);
    l.sums = _mm512_load_si512(state_.sums + lane);
    l.places = _mm512_load_si512(state_.places + lane);
    l.table = _mm512_load_si512(state_.table + lane);
    return with_base(l);
  }
  HWY_INLINE void store(const Looking& l, std::size_t vector) {
    const std::size_t lane = vector * kLanesEach;
    _mm512_store_si512(state_.position + lane, l.position);
    _mm512_store_si512(state_.sums + lane, l.sums);
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
  static constexpr LaneEntry kHeld =
      LaneEntry{1} << LaneField::kFirst | LaneEntry{1} << LaneField::kSecond;
  void take_values() {
    for (std::size_t v = 0; v < kVectors; ++v) {
      Vector columns[kLanesEach];
      transpose(tile_.entries[v], columns);
      for (std::size_t i = 0; i < kLanesEach; ++i) {
        constexpr unsigned kAside = 16 - LaneField::kValueBits;  // values stand at a word's top
        const __mmask32 held = _mm512_test_epi16_mask(columns[i], All(kHeld));
        const Vector values = _mm512_maskz_compress_epi16(held, columns[i]);
        Lane& lane = lanes_[v * kLanesEach + i];
        _mm512_storeu_si512(lane.end, _mm512_srai_epi16(values, kAside));
        lane.end += std::popcount(held);
      }
    }
  }

  /// The blocks that ended in this tile.
  bool take_blocks() {
    // A list first: one loop that ends is mispredicted less than one for each look.
    std::array<std::uint8_t, kTile * kDoneBits + 64> ended;
    std::size_t count = 0;
    for (std::size_t at = 0; at < kTile * kDoneBits; at += 64) {
      std::uint64_t done = 0;
      std::memcpy(&done, &tile_.done[0][0] + at / 8, sizeof done);
      const Vector bits = _mm512_add_epi8(_mm512_load_si512(kUpTo64.at),
                                          _mm512_set1_epi8(static_cast<char>(at)));
      _mm512_storeu_si512(&ended[count], _mm512_maskz_compress_epi8(done, bits));
      count += static_cast<std::size_t>(std::popcount(done));
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t lane = ended[i] % kDoneBits, look = ended[i] / kDoneBits;
      if (lanes_[lane].left == 0) continue;  // what it read since means nothing
      if (HWY_UNLIKELY((tile_.bad[look] >> lane & 1U) != 0)) return false;
      take_block(lanes_[lane], tile_.places[look][lane]);
      if (lanes_[lane].left == 0) over_.push(lane);
    }
    while (!over_.empty()) {
      --left_;
      begin_next(over_.pop());
    }
    return ++tiles_ % kTilesToRoom != 0 || make_room();
  }

  /// Moves what is left of each lane's values to the beginning of its room.
  bool make_room() {
    for (std::size_t i = 0; i < kLaneCount; ++i) {
      Lane& lane = lanes_[i];
      const std::ptrdiff_t held = lane.left > 0 ? lane.end - lane.values : 0;
      if (held > 64) return false;  // more than a block can have
      const Vector a = _mm512_loadu_si512(lane.values);
      const Vector b = _mm512_loadu_si512(lane.values + 32);
      _mm512_store_si512(values_[i], a);
      _mm512_store_si512(values_[i] + 32, b);
      lane.values = values_[i];
      lane.end = values_[i] + held;
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
  std::size_t tiles_ = 0;
  /// Lanes whose stretch is over.
  struct {
    std::array<std::size_t, kLaneCount> lanes;
    std::size_t count = 0;
    void push(std::size_t lane) { lanes[count++] = lane; }
    std::size_t pop() { return lanes[--count]; }
    bool empty() const { return count == 0; }
  } over_;
  alignas(64) std::int16_t values_[kLaneCount][kValueRoom];
};

bool DecodeLanes(const LaneJob& job) { return Lanes(job).run(); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_POP_ATTRIBUTES
