// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/pair_tables.h"

#include <algorithm>

#include "headrace/decode/jpeg/entries.h"

namespace headrace::jpeg {
namespace {

constexpr Entry value_field(std::int32_t value) { return static_cast<std::uint16_t>(value); }

/// A symbol that the look holds whole.
constexpr Entry whole(Symbol symbol, bool ac, std::uint32_t bits, std::int32_t value) {
  const Entry taken = symbol.length + bits;
  const Entry step = advance(symbol, ac) + (ac ? 0 : kBias);  // a DC value begins a block
  if (step == 64) return taken | step << 8U | taken << 16U | Entry{kAside} << 24U;
  return taken | step << 8U | taken << 16U | step << 24U | value_field(value) << 32U |
         value_field(value) << 48U;
}

/// A symbol whose code the look holds, but not its value; without a length: not even that.
constexpr Entry beyond_the_look(Symbol symbol) {
  return Entry{128} << 24U | Entry{symbol.symbol} << 32U | Entry{symbol.length} << 40U;
}

constexpr std::uint32_t first_bits(Entry entry) { return entry >> 16U & 0xffU; }
constexpr bool alone_at_end(Entry entry) { return (entry >> 24U & 0xffU) == kAside; }

/// Codes ascend, so the entries are written from the first to the last.
void fill_singles(const HuffmanCode& code, bool ac, unsigned look_bits, Entry* entries) {
  const HuffmanSpec& spec = code.spec();
  Entry* to = entries;
  std::size_t index = 0;
  for (unsigned length = 1; length <= look_bits; ++length) {
    for (unsigned i = 0; i < spec.counts[length]; ++i) {
      const Symbol symbol{static_cast<std::uint8_t>(length), spec.symbols[index++]};
      const std::uint32_t bits = value_bits(symbol, ac);
      if (length + bits > look_bits) {
        to = std::fill_n(to, std::size_t{1} << (look_bits - length), beyond_the_look(symbol));
        continue;
      }
      const unsigned spare = look_bits - length - bits;
      if (bits == 0) {
        to = std::fill_n(to, std::size_t{1} << spare, whole(symbol, ac, 0, 0));
        continue;
      }
      const std::size_t half = std::size_t{1} << (bits - 1 + spare);  // negative, then positive
      fill_values(whole(symbol, ac, bits, extend(0, bits)), spare, half, to);
      fill_values(whole(symbol, ac, bits, extend(1U << (bits - 1), bits)), spare, half, to + half);
      to += 2 * half;
    }
  }
  std::fill(to, entries + (std::size_t{1} << look_bits), beyond_the_look({}));
}

}  // namespace

/// What the look's bits behind a first symbol give as a second one, for each number of bits that
/// the look still has: to be added to the first one's entry, 0 if they are too few.
class BlockTables::Seconds {
 public:
  explicit Seconds(const BlockTables& tables) : tables_(tables) {}

  /// For all that `left` bits can be. REQUIRES: left < ac_look_bits - 1
  const Entry* of(unsigned left) {
    Entry* const list = lists_.data() + (std::size_t{1} << left);
    if ((made_ >> left & 1U) != 0) return list;
    made_ |= 1U << left;
    for (std::size_t i = 0; i < std::size_t{1} << left; ++i) {
      // An entry that is a pair already still tells its first symbol.
      const Entry entry = tables_.ac_entries_[i << (tables_.ac_look_bits_ - left)];
      const std::uint32_t bits = first_bits(entry);
      list[i] = bits == 0 || bits > left ? 0
                : alone_at_end(entry)    ? entry & 0xffffU
                                         : (entry >> 16U & 0xffffU) | (entry >> 32U) << 48U;
    }
    return list;
  }

 private:
  const BlockTables& tables_;
  unsigned made_ = 0;  // a bit for each list
  std::array<Entry, std::size_t{1} << (kMostLookBits - 1)> lists_;
};

namespace {

/// Where the look holds a whole AC symbol behind the first one, both become one entry.
template <class Seconds>
void add_seconds(Seconds& seconds, unsigned look_bits, unsigned ac_look_bits, Entry* entries) {
  const std::size_t size = std::size_t{1} << look_bits;
  for (std::size_t at = 0; at < size;) {
    const Entry first = entries[at];
    const std::uint32_t taken = first_bits(first);
    if (taken == 0) {
      ++at;
      continue;
    }
    const unsigned left = look_bits - taken;
    const std::size_t alike = size >> taken;  // entries that begin with this symbol
    if (left >= 2 && left + 1 < ac_look_bits && !alone_at_end(first)) {
      fill_pairs(first, seconds.of(left), alike, entries + at);
    }
    at += alike;
  }
}

}  // namespace

bool BlockTables::build(const HuffmanSpec& dc, const HuffmanSpec& ac, unsigned ac_look_bits) {
  if (dc_code_.is(dc) && ac_code_.is(ac) && ac_look_bits == ac_look_bits_) return true;
  ac_look_bits_ = ac_look_bits;
  if (!dc_code_.build(dc) || !ac_code_.build(ac)) return false;
  fill_singles(ac_code_, true, ac_look_bits, ac_entries_.data());
  fill_singles(dc_code_, false, kDcLookBits, dc_entries_.data());
  Seconds seconds(*this);
  add_seconds(seconds, kDcLookBits, ac_look_bits, dc_entries_.data());
  add_seconds(seconds, ac_look_bits, ac_look_bits, ac_entries_.data());
  return true;
}

}  // namespace headrace::jpeg
