// SPDX-License-Identifier: Apache-2.0
/// \file lanes_looks-inl.h by AVX-512 with VBMI2. Included by it.
#include <immintrin.h>

#include <bit>

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

using Vector = __m512i;

/// Vectors at once: what one waits for (a gather takes 25 cycles), the others hide.
constexpr std::size_t kVectors = 4;
constexpr std::size_t kLanesEach = kLaneCount / kVectors;
constexpr std::size_t kDoneBits = 8 * std::bit_ceil(kVectors);

HWY_INLINE Vector All(std::uint64_t x) { return _mm512_set1_epi64(static_cast<long long>(x)); }

/// What eight lanes carry from look to look.
struct Looking {
  Vector window;    ///< the next bits, from the top; what is behind them means nothing
  Vector position;  ///< of the window's first bit when it was filled
  Vector sums;      ///< of entries from kAdvance on: p in bits 0–7, above them kLost
  Vector notes;     ///< a bit for each value of the block so far; for scouts the first entry
  Vector table;     ///< the slot, and 8 for AC
  Vector base;      ///< of the table, in entries
};

/// What a look found: by how much the window turns, what goes to the sums, where values stand.
struct Symbols {
  Vector entry, turn, step, places;
};

/// What a tile of looks leaves for the second step.
struct alignas(64) Tile {
  LaneEntry entries[kVectors][kTile][kLanesEach];      ///< for scouts instead the sums
  std::uint64_t notes[kTile][kLaneCount];              ///< of the block that the look belongs to
  std::uint64_t position[kTile / kRound][kLaneCount];  ///< for scouts: where windows begin
  std::uint8_t done[kTile]
                   [kDoneBits / 8];  ///< a bit for each lane whose block ended with this look
  std::uint32_t bad[kTile];          ///< and for each that met no code: its block ends, too
};

struct UpTo64 {
  alignas(64) std::uint8_t at[64] = {};
};
constexpr UpTo64 make_up_to_64() {
  UpTo64 all;
  for (std::uint8_t i = 0; i < 64; ++i) all.at[i] = i;
  return all;
}
constexpr UpTo64 kUpTo64 = make_up_to_64();

/// Room for a tile's list of blocks that ended, and for a vector behind it.
constexpr std::size_t kMostEnded = kTile * kDoneBits + 64;
static_assert(kTile * kDoneBits <= 256, "a byte each");

/// look · kDoneBits + lane of each block that ended, look by look; how many. A list, since one loop
/// that ends is mispredicted less than one for each look.
inline std::size_t list_ended(const Tile& tile, std::array<std::uint8_t, kMostEnded>& ended) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < kTile * kDoneBits; at += 64) {
    std::uint64_t done = 0;
    std::memcpy(&done, &tile.done[0][0] + at / 8, sizeof done);
    const Vector bits =
        _mm512_add_epi8(_mm512_load_si512(kUpTo64.at), _mm512_set1_epi8(static_cast<char>(at)));
    _mm512_storeu_si512(&ended[count], _mm512_maskz_compress_epi8(done, bits));
    count += static_cast<std::size_t>(std::popcount(done));
  }
  return count;
}

template <LookFor kFor>
class Looks {
 public:
  explicit Looks(const LaneJob& job) : job_(job) {
    alignas(64) std::uint64_t dc[8] = {}, ac[8] = {}, next[8] = {};
    for (std::size_t i = 0; i < job.slots; ++i) {
      dc[i] = job.first_entry[i] + LaneTables::kDc * kLaneTable;
      ac[i] = job.first_entry[i] + LaneTables::kAcPairs * kLaneTable;
      next[i] = i + 1 < job.slots ? i + 1 : 0;
    }
    dc_ = _mm512_load_si512(dc);
    ac_ = _mm512_load_si512(ac);
    next_slot_ = _mm512_load_si512(next);
  }

  /// The lane begins a block of slot 0 here.
  void begin(std::size_t lane, std::uint64_t position) {
    position_[lane] = position;
    sums_[lane] = notes_[lane] = table_[lane] = 0;
  }

  /// kTile looks of every lane.
  void run() { run(std::make_index_sequence<kVectors>()); }
  const Tile& tile() const { return tile_; }

 private:
  HWY_INLINE Looking load(std::size_t vector) const {
    const std::size_t lane = vector * kLanesEach;
    Looking l;
    l.position = _mm512_load_si512(position_ + lane);
    l.sums = _mm512_load_si512(sums_ + lane);
    l.notes = _mm512_load_si512(notes_ + lane);
    l.table = _mm512_load_si512(table_ + lane);
    return with_base(l);
  }
  HWY_INLINE void store(const Looking& l, std::size_t vector) {
    const std::size_t lane = vector * kLanesEach;
    _mm512_store_si512(position_ + lane, l.position);
    _mm512_store_si512(sums_ + lane, l.sums);
    _mm512_store_si512(notes_ + lane, l.notes);
    _mm512_store_si512(table_ + lane, l.table);
  }

  /// All in registers, as far as there are any.
  template <std::size_t... kV>
  HWY_INLINE void run(std::index_sequence<kV...>) {
    Looking all[] = {load(kV)...};
    for (std::size_t at = 0; at < kTile; at += kRound) {
      static_assert(kRound == 4, "long_look counts on it");
      tile_.bad[at] = 0;
      ((all[kV] = refill(all[kV])), ...);
      if constexpr (kFor == LookFor::ends) {
        (_mm512_store_si512(tile_.position[at / kRound] + kV * kLanesEach, all[kV].position), ...);
      }
      ((all[kV] = long_look(all[kV], kV, at)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 1)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 2)), ...);
      ((all[kV] = short_look(all[kV], kV, at + 3)), ...);
    }
    (store(all[kV], kV), ...);
  }

  HWY_INLINE static Vector lost(const Looking& l) {
    return _mm512_and_si512(_mm512_srli_epi64(l.sums, kLost), All(63));
  }

  /// The window there; it holds 57 bits. No position leads out of the bytes, whatever they are.
  HWY_INLINE Vector window(Vector position) const {
    position = _mm512_min_epu64(position, All(job_.limit));
    const Vector bytes = _mm512_i64gather_epi64(_mm512_srli_epi64(position, 3), job_.bytes, 1);
    const Vector swap = _mm512_set4_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607);
    return _mm512_sllv_epi64(_mm512_shuffle_epi8(bytes, swap), _mm512_and_si512(position, All(7)));
  }

  HWY_INLINE Looking refill(Looking l) const {
    l.position = _mm512_min_epu64(_mm512_add_epi64(l.position, lost(l)), All(job_.limit));
    l.sums = _mm512_and_si512(l.sums, All(kP));
    l.window = window(l.position);
    return l;
  }

  HWY_INLINE Vector look(const Looking& l) const {
    const Vector index = _mm512_add_epi64(_mm512_srli_epi64(l.window, 64 - kLaneLookBits), l.base);
    return _mm512_i64gather_epi64(index, job_.entries, sizeof(LaneEntry));
  }

  HWY_INLINE static Symbols usual(Vector entry) {
    constexpr LaneEntry kPlaces = (1U << F::kPlaceBits) - 1;
    return {entry, entry, _mm512_srli_epi64(entry, F::kAdvance),
            _mm512_and_si512(_mm512_srli_epi64(entry, F::kPlaces), All(kPlaces))};
  }

  HWY_INLINE Looking short_look(const Looking& l, std::size_t vector, std::size_t at) {
    return take(l, usual(look(l)), vector, at);
  }

  /// All that symbols change, and what is left of them for the second step. Rotations instead of
  /// shifts, since they take no notice of a count's upper bits.
  HWY_INLINE Looking take(Looking l, const Symbols& s, std::size_t vector, std::size_t at) {
    if constexpr (kFor == LookFor::values) {
      l.notes = _mm512_or_si512(l.notes, _mm512_rolv_epi64(s.places, l.sums));
    } else {  // a lane that waits for its first value is noted again
      const __mmask8 first = _mm512_testn_epi64_mask(l.sums, All(kPBelow64));
      l.notes = _mm512_mask_mov_epi64(l.notes, first, s.entry);
    }
    l.window = _mm512_rolv_epi64(l.window, s.turn);
    l.sums = _mm512_add_epi64(l.sums, s.step);
    const Vector kept = kFor == LookFor::values ? s.entry : l.sums;
    _mm512_store_si512(tile_.entries[vector][at], kept);
    _mm512_store_si512(tile_.notes[at] + vector * kLanesEach, l.notes);
    const __mmask8 done = _mm512_test_epi64_mask(l.sums, All(kPDone));
    tile_.done[at][vector] = done;
    l.sums = _mm512_mask_and_epi64(l.sums, done, l.sums, All(~kP));
    if constexpr (kFor == LookFor::values) {
      l.notes = _mm512_maskz_mov_epi64(static_cast<__mmask8>(~done), l.notes);
    }
    // A lane that still waits for its DC value does not go on to AC.
    const __mmask8 begun = _mm512_test_epi64_mask(l.sums, All(kPBelow64));
    l.table = _mm512_mask_or_epi64(l.table, begun, l.table, All(8));
    l.table = _mm512_mask_permutexvar_epi64(l.table, done, l.table, next_slot_);
    return with_base(l);
  }

  HWY_INLINE Looking with_base(Looking l) const {
    l.base = _mm512_permutex2var_epi64(dc_, l.table, ac_);
    const Vector from = All(kSinglesFrom);
    const __mmask8 singles = _mm512_cmpeq_epi64_mask(_mm512_and_si512(l.sums, from), from);
    l.base = _mm512_mask_add_epi64(l.base, singles, l.base, All(kLaneTable));
    return l;
  }

  /// A look that takes symbols of the long way, too. REQUIRES: the window has just been filled
  HWY_INLINE Looking long_look(const Looking& l, std::size_t vector, std::size_t at) {
    const Vector entry = look(l);
    Symbols s = usual(entry);
    const __mmask8 is_long = _mm512_test_epi64_mask(entry, All(F::kLongWay));
    const __mmask8 longer = _mm512_test_epi64_mask(entry, All(F::kLongerWay));
    s.turn = _mm512_mask_srli_epi64(s.turn, is_long, entry, F::kLongBits);
    s.step = _mm512_mask_srli_epi64(s.step, is_long, entry, F::kLongAdvance);
    const Vector before_first = All(std::uint64_t{1} << 63U);
    s.places = _mm512_mask_rolv_epi64(s.places, is_long, before_first, s.step);
    // The value: the last of the bits that the symbol takes. T.81 F.2.2.1 EXTEND.
    const Vector half = _mm512_sllv_epi64(All(1), _mm512_srli_epi64(entry, F::kLongSize));
    const Vector ones = _mm512_or_si512(half, _mm512_sub_epi64(half, All(1)));
    const Vector raw = _mm512_and_si512(_mm512_rolv_epi64(l.window, s.turn), ones);
    const __mmask8 negative = _mm512_testn_epi64_mask(raw, half);
    const Vector value = _mm512_mask_sub_epi64(raw, negative, raw, ones);
    const Vector field =
        _mm512_srli_epi64(_mm512_slli_epi64(value, 64 - F::kValueBits), F::kSecond - F::kFirst);
    s.entry = _mm512_mask_or_epi64(entry, is_long, field, All(kOneValue));
    if (HWY_UNLIKELY(longer != 0)) {
      const Longer all = longer_ways(l.window, l.table, longer, s);
      tile_.bad[at] |= std::uint32_t{all.bad} << (vector * kLanesEach);
      Looking after = take(l, all.symbols, vector, at);  // looks count on more bits than are left
      after.window = window(_mm512_add_epi64(after.position, lost(after)));
      return after;
    }
    return take(l, s, vector, at);
  }

  struct Longer {
    Symbols symbols;
    std::uint8_t bad = 0;  ///< a bit for each lane without a code
  };
  /// The longer way, lane by lane: few go it.
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
      const LongerStep one = longer_step(job_.tables[table[i] % 8]->code(ac), ac, window[i]);
      if (!one.found) bad |= 1U << i;
      entry[i] = one.entry;
      turn[i] = one.turn;
      step[i] = one.step;
      places[i] = one.places;
    }
    return {{_mm512_load_si512(entry), _mm512_load_si512(turn), _mm512_load_si512(step),
             _mm512_load_si512(places)},
            static_cast<std::uint8_t>(bad)};
  }

  const LaneJob& job_;
  Vector dc_, ac_;    ///< for each slot, where its table begins
  Vector next_slot_;  ///< behind each
  Tile tile_{};
  // What lanes carry from tile to tile.
  alignas(64) std::uint64_t position_[kLaneCount];
  alignas(64) std::uint64_t sums_[kLaneCount];
  alignas(64) std::uint64_t notes_[kLaneCount];
  alignas(64) std::uint64_t table_[kLaneCount];
};

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
