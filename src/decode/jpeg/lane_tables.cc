// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/lane_tables.h"

#include <algorithm>

#include "headrace/decode/jpeg/entries.h"
#include "headrace/decode/jpeg/pair_tables.h"

namespace headrace::jpeg {
namespace {

using F = LaneField;

constexpr std::uint32_t lane_advance(Symbol symbol, bool ac) {
  const std::uint32_t step = advance(symbol, ac);
  return step == 64 ? kEndAdvance : step;
}

/// A symbol that the look holds whole, without its value.
constexpr LaneEntry whole(Symbol symbol, bool ac) {
  const std::uint32_t step = lane_advance(symbol, ac);
  const LaneEntry bits = symbol.length + value_bits(symbol, ac);
  const LaneEntry entry = bits | LaneEntry{step} << F::kAdvance | bits << F::kBitsAgain;
  if (ac && value_bits(symbol, ac) == 0) return entry;
  return entry | LaneEntry{1} << F::kFirst | LaneEntry{1} << (F::kPlaces + step - 1);
}

constexpr LaneEntry long_way(Symbol symbol, bool ac) {
  const std::uint32_t size = value_bits(symbol, ac);
  const LaneEntry bits = symbol.length + size;
  if (bits > kMostLongBits || size == 0) return F::kLongerWay;
  return F::kLongWay | LaneEntry{advance(symbol, ac)} << F::kLongAdvance | bits << F::kLongBits |
         LaneEntry{size - 1} << F::kLongSize;
}

/// Codes ascend, so the entries are written from the first to the last.
void fill_singles(const HuffmanCode& code, bool ac, LaneEntry* entries) {
  const HuffmanSpec& spec = code.spec();
  LaneEntry* to = entries;
  std::size_t index = 0;
  for (unsigned length = 1; length <= kLaneLookBits; ++length) {
    for (unsigned i = 0; i < spec.counts[length]; ++i) {
      const Symbol symbol{static_cast<std::uint8_t>(length), spec.symbols[index++]};
      const std::uint32_t bits = value_bits(symbol, ac);
      const bool fits = length + bits <= kLaneLookBits;
      if (!fits || (bits != 0 && advance(symbol, ac) > F::kPlaceBits)) {
        to = std::fill_n(to, std::size_t{1} << (kLaneLookBits - length), long_way(symbol, ac));
        continue;
      }
      const unsigned spare = kLaneLookBits - length - bits;
      if (bits == 0) {
        to = std::fill_n(to, std::size_t{1} << spare, whole(symbol, ac));
        continue;
      }
      const auto with = [&](std::int32_t value) {
        const auto field = static_cast<LaneEntry>(value) & ((1U << F::kValueBits) - 1);
        return whole(symbol, ac) | field << (F::kFirst + 1);
      };
      const std::size_t half = std::size_t{1} << (bits - 1 + spare);  // negative, then positive
      fill_lane_values(with(extend(0, bits)), spare, half, to);
      fill_lane_values(with(extend(1U << (bits - 1), bits)), spare, half, to + half);
      to += 2 * half;
    }
  }
  std::fill(to, entries + kLaneTable, F::kLongerWay);
}

constexpr std::uint32_t bits_of(LaneEntry entry) { return entry & 63U; }

/// What the look's bits behind a first symbol give as a second one, for each number of bits that
/// the look still has; 0 if they are too few.
class Seconds {
 public:
  explicit Seconds(const LaneEntry* singles) : singles_(singles) {}

  /// For all that `left` bits can be.
  const LaneEntry* of(unsigned left) {
    LaneEntry* const list = lists_.data() + (std::size_t{1} << left);
    if ((made_ >> left & 1U) != 0) return list;
    made_ |= 1U << left;
    for (std::size_t i = 0; i < std::size_t{1} << left; ++i) {
      const LaneEntry entry = singles_[i << (kLaneLookBits - left)];
      const std::uint32_t bits = bits_of(entry);
      const LaneEntry value = entry >> F::kFirst << F::kSecond;
      list[i] = bits == 0 || bits > left ? 0 : value | (entry & ((LaneEntry{1} << F::kFirst) - 1));
    }
    return list;
  }

 private:
  const LaneEntry* singles_;
  unsigned made_ = 0;  // a bit for each list
  std::array<LaneEntry, kLaneTable> lists_;
};

/// Where the look holds a whole AC symbol behind a first value, both become one entry.
void add_seconds(Seconds& seconds, const LaneEntry* singles, LaneEntry* out) {
  for (std::size_t at = 0; at < kLaneTable;) {
    const LaneEntry first = singles[at];
    const std::uint32_t taken = bits_of(first);
    if (taken == 0) {
      out[at++] = first;
      continue;
    }
    const std::size_t alike = kLaneTable >> taken;  // entries that begin with this symbol
    const bool has_value = (first >> F::kFirst & 1U) != 0;
    if (alike < 4 || !has_value || (first >> F::kAdvance & 127U) > kMostPairAdvance) {
      std::copy_n(singles + at, alike, out + at);
    } else {
      fill_lane_pairs(first, seconds.of(kLaneLookBits - taken), alike, out + at);
    }
    at += alike;
  }
}

}  // namespace

LongerStep longer_step(const HuffmanCode& code, bool ac, std::uint64_t window) {
  constexpr unsigned kBits = F::kBitsAgain - F::kAdvance;
  const Symbol symbol = code.find(static_cast<std::uint32_t>(window >> 48U));
  if (symbol.length == 0) return {.turn = 1, .step = 64 | 1U << kBits};  // it does not stand still
  const std::uint32_t size = value_bits(symbol, ac);
  LongerStep step{.found = true, .turn = symbol.length + size};
  step.step = lane_advance(symbol, ac) | step.turn << kBits;
  if (size == 0 && ac) return step;
  const auto raw = static_cast<std::uint32_t>(window << symbol.length >> 1U >> (63 - size));
  const auto value = static_cast<std::uint64_t>(size == 0 ? 0 : extend(raw, size));
  step.entry = value << (64 - F::kValueBits) >> (F::kSecond - F::kFirst) | LaneEntry{1}
                                                                               << F::kFirst;
  step.places = std::uint64_t{1} << (advance(symbol, ac) - 1);
  return step;
}

bool LaneTables::build(const HuffmanSpec& dc, const HuffmanSpec& ac, LaneEntry* out) {
  if (dc_code_.is(dc) && ac_code_.is(ac)) return true;
  if (!dc_code_.build(dc) || !ac_code_.build(ac)) return false;
  LaneEntry* const singles = out + kAcSingles * kLaneTable;
  LaneEntry* const first = out + kDc * kLaneTable;
  fill_singles(ac_code_, true, singles);
  Seconds seconds(singles);
  add_seconds(seconds, singles, out + kAcPairs * kLaneTable);
  std::array<LaneEntry, kLaneTable> dc_singles;
  fill_singles(dc_code_, false, dc_singles.data());
  add_seconds(seconds, dc_singles.data(), first);
  return true;
}

}  // namespace headrace::jpeg
