// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/scan.h"

#include <algorithm>
#include <cstring>

#include "headrace/decode/jpeg/kernels.h"

namespace headrace::jpeg {
namespace {

/// Behind the clean bytes: more than one MCU can take, so that a reader that ran over the end is
/// noticed before it leaves the buffer. 6 blocks of 64 codes of at most 27 bits are 1,296 bytes.
constexpr std::size_t kOverrun = 2048;

constexpr std::uint32_t kEndOfBlockAdvance = 64;

/// Where the coefficient that stands at index k - 1 of the zigzag goes. The second half takes the
/// zero that an end of block "writes": the last coefficient's place, which is zero then.
struct Places {
  std::array<std::uint16_t, 160> offset{};
};
constexpr Places make_places() {
  Places places;
  for (std::size_t k = 0; k < places.offset.size(); ++k) {
    const unsigned natural = kNaturalOrder[k < 64 ? k : 63];
    places.offset[k] = static_cast<std::uint16_t>(natural / 8 * 32 + natural % 8);
  }
  return places;
}
constexpr Places kPlaces = make_places();

std::uint64_t load_big_endian(const std::uint8_t* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return __builtin_bswap64(word);
}

}  // namespace

bool ScanDecoder::start(const Headers& headers, ByteSpan bytes) {
  headers_ = &headers;
  for (std::uint32_t i = 0; i < headers.component_count; ++i) {
    const Component& c = headers.components[i];
    if (!dc_[c.dc].build(headers.dc[c.dc], HuffmanTable::Kind::dc) ||
        !ac_[c.ac].build(headers.ac[c.ac], HuffmanTable::Kind::ac)) {
      return false;
    }
  }
  const std::uint32_t mcu_width = 8 * headers.components[0].h;
  const std::uint32_t mcu_height = 8 * headers.components[0].v;
  mcus_per_row_ = (headers.width + mcu_width - 1) / mcu_width;
  mcu_rows_ = (headers.height + mcu_height - 1) / mcu_height;
  rows_done_ = 0;
  if (!unstuff(bytes)) return false;
  segment_ = 0;
  return begin_segment();
}

bool ScanDecoder::unstuff(ByteSpan bytes) {
  const auto* from = static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
  const std::uint8_t* const end = from + bytes.size();
  from += headers_->scan_begin;
  const auto size = static_cast<std::size_t>(end - from);
  if (clean_.size() < size + kOverrun) clean_.resize(size + kOverrun);
  segments_.clear();
  std::uint8_t* to = clean_.data();
  std::size_t begin = 0;
  unsigned next_restart = 0;
  const auto close_segment = [&] {
    segments_.push_back({begin, static_cast<std::size_t>(to - clean_.data())});
    begin = segments_.back().end;
  };
  while (from < end) {
    const auto* ff = static_cast<const std::uint8_t*>(
        std::memchr(from, 0xff, static_cast<std::size_t>(end - from)));
    if (ff == nullptr) return false;  // no EOI
    const auto run = static_cast<std::size_t>(ff - from);
    std::memcpy(to, from, run);
    to += run;
    from = ff + 1;
    while (from < end && *from == 0xff) ++from;  // fill bytes
    if (from == end) return false;
    const unsigned marker = *from++;
    if (marker == 0) {
      if (from - ff != 2) return false;  // FF FF 00: nobody agrees what that is
      *to++ = 0xff;
    } else if (marker == 0xd9) {
      close_segment();
      std::memset(to, 0, kOverrun);
      return true;
    } else if (marker == 0xd0 + next_restart && headers_->restart_interval != 0) {
      next_restart = (next_restart + 1) % 8;
      close_segment();
    } else {
      return false;
    }
  }
  return false;
}

bool ScanDecoder::begin_segment() {
  if (segment_ >= segments_.size()) return false;
  bits_ = {clean_.data() + segments_[segment_].begin, 0, 0};
  predictors_ = {};
  left_in_segment_ = headers_->restart_interval != 0 ? headers_->restart_interval : ~0U;
  return true;
}

/// All bytes of the segment were taken, and none behind it: fewer than 8 bits are left.
bool ScanDecoder::segment_done() const {
  const auto position = static_cast<std::uint64_t>(bits_.at - clean_.data()) * 8 - bits_.count;
  const std::uint64_t end = segments_[segment_].end * 8;
  return position <= end && end - position < 8;
}

bool ScanDecoder::ended_cleanly() const {
  return rows_done_ == mcu_rows_ && segment_ + 1 == segments_.size() && segment_done();
}

inline bool ScanDecoder::block(Bits& bits, const HuffmanTable& dc, const HuffmanTable& ac,
                               std::int32_t& predictor, std::int16_t* out) {
  Bits b = bits;  // in registers: `out` could alias anything
  const auto refill = [&b] {
    b.window |= load_big_endian(b.at) >> b.count;
    b.at += (63 - b.count) >> 3U;
    b.count |= 56U;
  };
  const auto take = [&b](std::uint32_t n) {
    b.window <<= n;
    b.count -= n;
  };
  /// A value that the table does not hold: at most 16 + 11 bits. False: no such code.
  const auto slow = [&](const HuffmanTable& table, FastEntry entry, unsigned& symbol,
                        std::int32_t& value, bool is_ac) {
    unsigned length = (entry >> 8U) & 0xffU;
    symbol = (entry >> 16U) & 0xffU;
    if (length == 0) {
      const auto code = table.find(static_cast<std::uint32_t>(b.window >> 48U));
      if (code.length == 0) return false;
      length = code.length;
      symbol = code.symbol;
    }
    take(length);
    const unsigned size = is_ac ? symbol & 15U : symbol;
    value = 0;
    if (size != 0) {
      value = extend(static_cast<std::uint32_t>(b.window >> (64U - size)), size);
      take(size);
    }
    return true;
  };

  refill();
  FastEntry entry = dc.fast_table()[b.window >> (64U - kLookBits)];
  if (const std::uint32_t length = entry & 0xffU; length != 0) {
    take(length);
    predictor += static_cast<std::int16_t>(entry >> 16U);
  } else {
    unsigned symbol = 0;
    std::int32_t difference = 0;
    if (!slow(dc, entry, symbol, difference, false)) return false;
    predictor += difference;
  }
  if (predictor != static_cast<std::int16_t>(predictor)) return false;
  out[0] = static_cast<std::int16_t>(predictor);

  const FastEntry* const table = ac.fast_table();
  std::uint32_t k = 1;
  do {
    refill();
    entry = table[b.window >> (64U - kLookBits)];
    // Up to three values of a look each fit one refill of 56 bits; a longer one leaves the loop.
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t length = entry & 0xffU;
      if (length == 0) break;
      take(length);
      k += (entry >> 8U) & 0xffU;
      out[kPlaces.offset[k - 1]] = static_cast<std::int16_t>(entry >> 16U);
      if (k >= 64) break;
      entry = table[b.window >> (64U - kLookBits)];
    }
    if (k >= 64) break;
    if ((entry & 0xffU) == 0) {
      refill();
      unsigned symbol = 0;
      std::int32_t value = 0;
      if (!slow(ac, entry, symbol, value, true)) return false;
      const unsigned run = symbol >> 4U;
      if ((symbol & 15U) == 0 && run != 15) {
        k += kEndOfBlockAdvance;
        entry = kEndOfBlockAdvance << 8U;
        break;
      }
      k += run + 1;
      if (k > 64) return false;
      out[kPlaces.offset[k - 1]] = static_cast<std::int16_t>(value);
      entry = 0;
    }
  } while (k < 64);
  // Beyond the block without an end of block: a run too long.
  if (k > 64 && ((entry >> 8U) & 0xffU) != kEndOfBlockAdvance) return false;
  bits = b;
  return true;
}

template <bool kKeep>
bool ScanDecoder::run(std::uint32_t begin, std::uint32_t count,
                      const std::array<std::int16_t*, 3>& base,
                      const std::array<std::size_t, 3>& stride) {
  const Headers& headers = *headers_;
  std::array<std::int32_t, 3> predictors = predictors_;
  const std::uint8_t* const limit = clean_.data() + segments_[segment_].end + 8;
  Bits bits = bits_;
  for (std::uint32_t mcu = begin; mcu < begin + count; ++mcu) {
    for (std::uint32_t i = 0; i < headers.component_count; ++i) {
      const Component& c = headers.components[i];
      for (std::uint32_t y = 0; y < c.v; ++y) {
        for (std::uint32_t x = 0; x < c.h; ++x) {
          std::int16_t* out = base[i];
          if constexpr (kKeep) {
            const std::size_t column = std::size_t{mcu} * c.h + x;
            out += y * stride[i] + column / kGroupBlocks * kGroupSize + column % kGroupBlocks * 8;
          }
          if (!block(bits, dc_[c.dc], ac_[c.ac], predictors[i], out)) return false;
        }
      }
    }
    if (bits.at > limit) return false;
  }
  bits_ = bits;
  predictors_ = predictors;
  return true;
}

bool ScanDecoder::next_row(std::uint32_t first, std::uint32_t last,
                           const std::array<CoefficientRow, 3>& targets) {
  alignas(64) std::array<std::int16_t, kGroupSize> passed{};
  std::uint32_t mcu = 0;
  while (mcu < mcus_per_row_) {
    if (left_in_segment_ == 0) {
      if (!segment_done()) return false;
      ++segment_;
      if (!begin_segment()) return false;
    }
    const bool keep = mcu >= first && mcu < last;
    const std::uint32_t until = mcu < first ? std::min(first, mcus_per_row_)
                                : keep      ? last
                                            : mcus_per_row_;
    const std::uint32_t count = std::min(until - mcu, left_in_segment_);
    std::array<std::int16_t*, 3> base{passed.data(), passed.data(), passed.data()};
    std::array<std::size_t, 3> stride{};
    if (keep) {
      for (std::uint32_t i = 0; i < headers_->component_count; ++i) {
        base[i] = targets[i].data;
        stride[i] = targets[i].row_stride;
      }
    }
    const bool clean =
        keep ? run<true>(mcu - first, count, base, stride) : run<false>(0, count, base, stride);
    if (!clean) return false;
    mcu += count;
    if (headers_->restart_interval != 0) left_in_segment_ -= count;
  }
  ++rows_done_;
  return true;
}

}  // namespace headrace::jpeg
