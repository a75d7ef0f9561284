// SPDX-License-Identifier: Apache-2.0
/// \file lanes_looks-inl.h by AVX2. Included by it.
//
// A vector has four lanes here, so that eight of them are as many; there are 16 registers, so most
// of what lanes carry goes through memory. Masks are vectors, and a choice between two vectors
// costs three instructions: so it is done by sums and bits instead.
#include <immintrin.h>

#include <bit>

HEADRACE_BEFORE_LANES();
namespace headrace::jpeg {
namespace HWY_NAMESPACE {

using Vector = __m256i;

constexpr std::size_t kVectors = 8;
constexpr std::size_t kLanesEach = kLaneCount / kVectors;
constexpr std::size_t kDoneBits = kLaneCount;

/// In the upper half of a lane's slot: what is looked up there is 0.
constexpr std::uint64_t kNoSlot = 7;
static_assert(kMostSlots <= kNoSlot);

HWY_INLINE Vector All(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }
HWY_INLINE Vector Load(const std::uint64_t* at) {
  return _mm256_load_si256(reinterpret_cast<const Vector*>(at));
}
HWY_INLINE void Store(std::uint64_t* at, Vector x) {
  _mm256_store_si256(reinterpret_cast<Vector*>(at), x);
}
/// The highest bit of each lane.
HWY_INLINE unsigned HighestBits(Vector x) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(x)));
}

/// What four lanes carry from look to look.
struct Looking {
  Vector window;    ///< the next bits, from the top; zeros behind them
  Vector position;  ///< of the window's first bit when it was filled
  Vector sums;      ///< of entries from kAdvance on: p in bits 0-7, above them kLost
  Vector notes;     ///< a bit for each value of the block so far; for scouts the first entry
  Vector slot;      ///< and kNoSlot in the upper half
};

/// What a look found: by how much the window moves, what goes to the sums, where values stand.
struct Symbols {
  Vector entry, turn, step, places;
};

/// What a tile of looks leaves for the second step.
struct alignas(64) Tile {
  LaneEntry entries[kVectors][kTile][kLanesEach];      ///< for scouts instead the sums
  std::uint64_t notes[kTile][kLaneCount];              ///< of the block that the look belongs to
  std::uint64_t position[kTile / kRound][kLaneCount];  ///< for scouts: where windows begin
  std::uint8_t going[kTile][kVectors];  ///< a bit for each lane whose block goes on after this look
  std::uint32_t bad[kTile];             ///< and for each that met no code: its block ends, too
};

/// Room for a tile's list of blocks that ended, and for what is written behind it.
constexpr std::size_t kMostEnded = kTile * kDoneBits + 8;
static_assert(kTile * kDoneBits <= 256, "a byte each");

/// look · kDoneBits + lane of each block that ended, look by look; how many. Some are written
/// whether they are there or not, since a loop over a few of them is mispredicted.
inline std::size_t list_ended(const Tile& tile, std::array<std::uint8_t, kMostEnded>& ended) {
  constexpr std::uint64_t kNibbles = 0x0f0f0f0f0f0f0f0f;
  static_assert(kVectors == 8 && kLanesEach == 4);
  std::size_t count = 0;
  for (std::size_t at = 0; at < kTile; at += 2) {
    std::uint64_t going[2];
    std::memcpy(going, tile.going[at], sizeof going);
    std::uint64_t done = _pext_u64(~going[0], kNibbles) | _pext_u64(~going[1], kNibbles) << 32U;
    const auto all = static_cast<std::size_t>(std::popcount(done));
    for (std::size_t i = 0; i < 6 || done != 0; ++i, done &= done - 1) {
      ended[count + i] = static_cast<std::uint8_t>(at * kDoneBits + _tzcnt_u64(done));
    }
    count += all;
  }
  return count;
}

template <LookFor kFor>
class Looks {
 public:
  explicit Looks(const LaneJob& job) : job_(job) {
    alignas(32) std::uint32_t pairs[8] = {}, next[8] = {};
    for (std::uint32_t i = 0; i < job.slots; ++i) {
      pairs[i] = job.first_entry[i] + static_cast<std::uint32_t>(LaneTables::kAcPairs * kLaneTable);
      next[i] = i ^ (i + 1 < job.slots ? i + 1 : 0);
    }
    pairs_ = _mm256_load_si256(reinterpret_cast<const Vector*>(pairs));
    to_next_ = _mm256_load_si256(reinterpret_cast<const Vector*>(next));
  }

  /// The lane begins a block of slot 0 here.
  void begin(std::size_t lane, std::uint64_t position) {
    position_[lane] = position;
    sums_[lane] = notes_[lane] = 0;
    slot_[lane] = kNoSlot << 32U;
  }

  /// kTile looks of every lane.
  void run() { run(std::make_index_sequence<kVectors>()); }
  const Tile& tile() const { return tile_; }

 private:
  HWY_INLINE void load(Looking& l, std::size_t vector) const {
    const std::size_t lane = vector * kLanesEach;
    l.position = Load(position_ + lane);
    l.sums = Load(sums_ + lane);
    l.notes = Load(notes_ + lane);
    l.slot = Load(slot_ + lane);
  }
  HWY_INLINE void store(const Looking& l, std::size_t vector) {
    const std::size_t lane = vector * kLanesEach;
    Store(position_ + lane, l.position);
    Store(sums_ + lane, l.sums);
    Store(notes_ + lane, l.notes);
    Store(slot_ + lane, l.slot);
  }

  template <std::size_t... kV>
  HWY_INLINE void run(std::index_sequence<kV...>) {
    Looking all[kVectors];  // changed in place: copies would go through memory in halves
    (load(all[kV], kV), ...);
    for (std::size_t at = 0; at < kTile; at += kRound) {
      static_assert(kRound == 4, "long_look counts on it");
      tile_.bad[at] = 0;
      (refill(all[kV]), ...);
      if constexpr (kFor == LookFor::ends) {
        (Store(tile_.position[at / kRound] + kV * kLanesEach, all[kV].position), ...);
      }
      (long_look(all[kV], kV, at), ...);
      (short_look(all[kV], kV, at + 1), ...);
      (short_look(all[kV], kV, at + 2), ...);
      (short_look(all[kV], kV, at + 3), ...);
    }
    (store(all[kV], kV), ...);
  }

  HWY_INLINE static Vector lost(const Looking& l) {
    return _mm256_and_si256(_mm256_srli_epi64(l.sums, kLost), All(63));
  }
  /// No position leads out of the bytes, whatever they are. All are below 2^32.
  HWY_INLINE Vector bounded(Vector position) const {
    return _mm256_min_epu32(position, All(job_.limit));
  }

  /// The window there; it holds 57 bits.
  HWY_INLINE Vector window(Vector position) const {
    const Vector bytes =
        _mm256_i64gather_epi64(static_cast<const long long*>(static_cast<const void*>(job_.bytes)),
                               _mm256_srli_epi64(position, 3), 1);
    const Vector swap = _mm256_set_epi32(0x08090a0b, 0x0c0d0e0f, 0x00010203, 0x04050607, 0x08090a0b,
                                         0x0c0d0e0f, 0x00010203, 0x04050607);
    return _mm256_sllv_epi64(_mm256_shuffle_epi8(bytes, swap), _mm256_and_si256(position, All(7)));
  }

  HWY_INLINE void refill(Looking& l) const {
    l.position = bounded(_mm256_add_epi64(l.position, lost(l)));
    l.sums = _mm256_and_si256(l.sums, All(kP));
    l.window = window(l.position);
  }

  /// All ones where a lane waits for its DC value.
  HWY_INLINE static Vector not_begun(const Looking& l) {
    return _mm256_cmpeq_epi64(_mm256_and_si256(l.sums, All(kPBelow64)), All(0));
  }

  HWY_INLINE Vector look(const Looking& l) const {
    const Vector from = All(kSinglesFrom);
    const Vector singles = _mm256_cmpeq_epi64(_mm256_and_si256(l.sums, from), from);
    // Tables lie side by side: DC, pairs, singles.
    static_assert(LaneTables::kDc == 0 && LaneTables::kAcPairs == 1 && LaneTables::kAcSingles == 2);
    const Vector table = _mm256_slli_epi64(_mm256_sub_epi64(not_begun(l), singles), kLaneLookBits);
    const Vector base = _mm256_add_epi64(_mm256_permutevar8x32_epi32(pairs_, l.slot), table);
    const Vector index = _mm256_add_epi64(_mm256_srli_epi64(l.window, 64 - kLaneLookBits), base);
    return _mm256_i64gather_epi64(
        static_cast<const long long*>(static_cast<const void*>(job_.entries)), index,
        sizeof(LaneEntry));
  }

  HWY_INLINE static Symbols usual(Vector entry) {
    constexpr LaneEntry kPlaces = (1U << F::kPlaceBits) - 1;
    return {entry, entry, _mm256_srli_epi64(entry, F::kAdvance),
            _mm256_and_si256(_mm256_srli_epi64(entry, F::kPlaces), All(kPlaces))};
  }

  /// All that symbols change, and what is left of them for the second step.
  HWY_INLINE void take(Looking& l, const Symbols& s, std::size_t vector, std::size_t at) {
    if constexpr (kFor == LookFor::values) {
      const Vector p = _mm256_and_si256(l.sums, All(kPBelow64));
      l.notes = _mm256_or_si256(l.notes, _mm256_sllv_epi64(s.places, p));
    } else {  // a lane that waits for its first value is noted again
      l.notes = _mm256_blendv_epi8(l.notes, s.entry, not_begun(l));
    }
    l.window = _mm256_sllv_epi64(l.window, _mm256_and_si256(s.turn, All(63)));
    l.sums = _mm256_add_epi64(l.sums, s.step);
    Store(tile_.entries[vector][at], kFor == LookFor::values ? s.entry : l.sums);
    Store(tile_.notes[at] + vector * kLanesEach, l.notes);
    const Vector going = _mm256_cmpeq_epi64(_mm256_and_si256(l.sums, All(kPDone)), All(0));
    tile_.going[at][vector] = static_cast<std::uint8_t>(HighestBits(going));
    l.sums = _mm256_and_si256(l.sums, _mm256_or_si256(going, All(~kP)));
    if constexpr (kFor == LookFor::values) l.notes = _mm256_and_si256(l.notes, going);
    const Vector to_next = _mm256_permutevar8x32_epi32(to_next_, l.slot);
    l.slot = _mm256_xor_si256(l.slot, _mm256_andnot_si256(going, to_next));
  }

  HWY_INLINE void short_look(Looking& l, std::size_t vector, std::size_t at) {
    take(l, usual(look(l)), vector, at);
  }

  /// A look that takes symbols of the long way, too. REQUIRES: the window has just been filled
  HWY_INLINE void long_look(Looking& l, std::size_t vector, std::size_t at) {
    const Vector found = look(l);
    Symbols s = usual(found);
    const Vector is_long = _mm256_cmpgt_epi64(All(0), _mm256_slli_epi64(found, 57));
    // An entry of the long way has zeros where others say what they change.
    const Vector entry = _mm256_and_si256(found, is_long);
    const Vector one = All(1);
    const Vector turn = _mm256_and_si256(_mm256_srli_epi64(entry, F::kLongBits), All(63));
    const Vector step = _mm256_srli_epi64(entry, F::kLongAdvance);
    const Vector place =
        _mm256_sllv_epi64(one, _mm256_sub_epi64(_mm256_and_si256(step, All(63)), one));
    s.turn = _mm256_or_si256(s.turn, turn);
    s.step = _mm256_or_si256(s.step, step);
    s.places = _mm256_or_si256(s.places, place);
    // The value: the last of the bits that the symbol takes. T.81 F.2.2.1 EXTEND.
    const Vector half = _mm256_sllv_epi64(one, _mm256_srli_epi64(entry, F::kLongSize));
    const Vector ones = _mm256_or_si256(half, _mm256_sub_epi64(half, one));
    const Vector raw =
        _mm256_and_si256(_mm256_srlv_epi64(l.window, _mm256_sub_epi64(All(64), turn)), ones);
    const Vector negative = _mm256_cmpeq_epi64(_mm256_and_si256(raw, half), All(0));
    const Vector value = _mm256_sub_epi64(raw, _mm256_and_si256(negative, ones));
    const Vector field =
        _mm256_srli_epi64(_mm256_slli_epi64(value, 64 - F::kValueBits), F::kSecond - F::kFirst);
    const Vector with_value = _mm256_and_si256(_mm256_or_si256(field, All(kOneValue)), is_long);
    s.entry = _mm256_or_si256(_mm256_andnot_si256(is_long, found), with_value);
    const unsigned longer = HighestBits(_mm256_slli_epi64(found, 56));
    if (HWY_UNLIKELY(longer != 0)) {
      Symbols other = s;
      longer_ways(l.window, l.sums, l.slot, other, longer, vector, at);
      take(l, other, vector, at);  // looks count on more bits than are left
      l.window = window(bounded(_mm256_add_epi64(l.position, lost(l))));
      return;
    }
    take(l, s, vector, at);
  }

  /// The longer way, lane by lane: few go it.
  HWY_NOINLINE void longer_ways(Vector windows, Vector all_sums, Vector slots, Symbols& s,
                                unsigned lanes, std::size_t vector, std::size_t at) {
    alignas(32) std::uint64_t window[4], sums[4], slot[4], entry[4], turn[4], step[4], places[4];
    Store(window, windows);
    Store(sums, all_sums);
    Store(slot, slots);
    Store(entry, s.entry);
    Store(turn, s.turn);
    Store(step, s.step);
    Store(places, s.places);
    for (unsigned rest = lanes; rest != 0; rest &= rest - 1) {
      const auto i = static_cast<unsigned>(std::countr_zero(rest));
      const bool ac = (sums[i] & kPBelow64) != 0;
      const LongerStep one = longer_step(job_.tables[slot[i] & 7U]->code(ac), ac, window[i]);
      if (!one.found) tile_.bad[at] |= 1U << (vector * kLanesEach + i);
      entry[i] = one.entry;
      turn[i] = one.turn;
      step[i] = one.step;
      places[i] = one.places;
    }
    s.entry = Load(entry);
    s.turn = Load(turn);
    s.step = Load(step);
    s.places = Load(places);
  }

  const LaneJob& job_;
  Vector pairs_;    ///< for each slot, where its table of pairs begins
  Vector to_next_;  ///< the bits in which each and the next differ
  Tile tile_{};
  // What lanes carry from tile to tile.
  alignas(64) std::uint64_t position_[kLaneCount];
  alignas(64) std::uint64_t sums_[kLaneCount];
  alignas(64) std::uint64_t notes_[kLaneCount];
  alignas(64) std::uint64_t slot_[kLaneCount];
};

}  // namespace HWY_NAMESPACE
}  // namespace headrace::jpeg
HWY_AFTER_NAMESPACE();
