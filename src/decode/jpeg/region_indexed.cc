// SPDX-License-Identifier: Apache-2.0
// The rectangle by a seek index: only the stretches of MCU rows that it needs, four at once.
#include <algorithm>
#include <cstring>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/region.h"

namespace headrace::jpeg {
namespace {

constexpr std::size_t kSlack = 16;  ///< zeros behind a stretch: a look may read them

/// Copies without stuffed zeros; ends early at a marker. Returns the end of what was written.
std::uint8_t* unstuff(ByteSpan from, std::uint8_t* to) {
  const auto* at = static_cast<const std::uint8_t*>(static_cast<const void*>(from.data()));
  const std::uint8_t* const end = at + from.size();
  while (at < end) {
    const void* found = std::memchr(at, 0xff, static_cast<std::size_t>(end - at));
    const auto* ff = found != nullptr ? static_cast<const std::uint8_t*>(found) : end;
    std::memcpy(to, at, static_cast<std::size_t>(ff - at));
    to += ff - at;
    if (ff == end) break;
    if (ff + 1 < end && ff[1] != 0) break;
    *to++ = 0xff;
    at = ff + 2;
  }
  return to;
}

}  // namespace

/// The blocks of one MCU row's stretch in the order of the scan.
void RegionDecoder::plan_blocks() {
  plan_.clear();
  for (std::uint32_t mcu = 0; mcu < last_mcu_ - first_mcu_; ++mcu) {
    for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
      const Component& c = headers_.components[i];
      for (std::uint32_t y = 0; y < c.v; ++y) {
        for (std::uint32_t x = 0; x < c.h; ++x) {
          const std::size_t column = std::size_t{mcu} * c.h + x;
          const std::size_t out =
              planes_[i].arena_offset + y * planes_[i].row_stride + block_offset(column);
          plan_.push_back({static_cast<std::uint32_t>(out),
                           {c.dc, static_cast<std::uint8_t>(4 + c.ac)},
                           static_cast<std::uint8_t>(i)});
        }
      }
    }
  }
  BlockPlan last = plan_.back();
  last.out = static_cast<std::uint32_t>(arena_size_ - kGroupSize);
  plan_.insert(plan_.end(), kSparePlans, last);
}

/// Appends the clean bytes of the row's stretch to clean_, of which `used` are taken.
bool RegionDecoder::read_stretch(const SeekIndex& index, std::uint32_t mcu_row, std::size_t& used,
                                 StreamRow& row) {
  const std::uint32_t interval = checkpoint_interval(headers_);
  const std::uint32_t next = (last_mcu_ + interval - 1) / interval;
  const std::uint32_t begin = index.at(mcu_row, first_mcu_ / interval).bit;
  std::size_t end = bytes_.size();
  if (next < index.per_row()) {
    end = (index.at(mcu_row, next).bit + 7) / 8;
  } else if (mcu_row + 1 < index.rows()) {
    end = (index.at(mcu_row + 1, 0).bit + 7) / 8;
  }
  const std::size_t first = begin / 8;
  if (first < headers_.scan_begin || first >= end || end > bytes_.size()) return false;
  touched_ += end - first;
  std::uint8_t* const to = clean_.data() + used;
  std::uint8_t* const stop = unstuff(bytes_.subspan(first, end - first), to);
  std::memset(stop, 0, kSlack);
  used = static_cast<std::size_t>(stop - clean_.data()) + kSlack;
  row.at = to;
  row.limit = stop;
  row.skip = begin % 8;
  return true;
}

/// Differences become values: each block's DC adds to the one before, of its component.
void RegionDecoder::sum_dc(const Checkpoint& begin, std::int16_t* coefficients) const {
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    std::int16_t dc = begin.predictors[i];
    for (std::size_t b = 0; b + kSparePlans < plan_.size(); ++b) {
      if (plan_[b].component != i) continue;
      std::int16_t& value = coefficients[plan_[b].out];
      dc = static_cast<std::int16_t>(dc + value);
      value = dc;
    }
  }
}

bool RegionDecoder::decode_indexed(const Box& box, std::uint8_t* rgb, std::size_t stride,
                                   ByteSpan bytes, const Hash128& payload) {
  return decode_indexed_to(box, {rgb, stride, nullptr}, bytes, payload);
}

bool RegionDecoder::decode_indexed(const Box& box, PlaneRows& rows, ByteSpan bytes,
                                   const Hash128& payload) {
  return decode_indexed_to(box, {nullptr, 0, &rows}, bytes, payload);
}

bool RegionDecoder::decode_indexed_to(const Box& box, const Target& target, ByteSpan bytes,
                                      const Hash128& payload) {
  const auto index = SeekIndex::open(bytes, payload, headers_);
  if (!index) return false;
  const auto tables = scan_.tables(headers_);
  if (!tables) return false;
  const std::uint32_t interval = checkpoint_interval(headers_);
  lay_out(box, interval);
  plan_blocks();
  touched_ = headers_.scan_begin;
  if (clean_.size() < bytes_.size() + kStreams * kSlack) {
    clean_.resize(bytes_.size() + kStreams * kSlack);
  }
  std::uint32_t y = box.top;
  for (std::uint32_t row = first_mcu_row_; row < last_mcu_row_;) {
    const auto count = std::min<std::size_t>(kStreams, last_mcu_row_ - row);
    std::array<StreamRow, kStreams> rows;
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      Arena& arena = arenas_[i];
      if (arena.memory.size() < arena_size_ + 32) arena.memory.resize(arena_size_ + 32);
      rows[i].base = arena.data();
      std::fill_n(rows[i].base, arena_size_, std::int16_t{0});
      if (!read_stretch(*index, row + static_cast<std::uint32_t>(i), used, rows[i])) return false;
    }
    if (!decode_streams(std::span(rows).first(count), plan_, *tables)) return false;
    for (std::size_t i = 0; i < count; ++i, ++row) {
      sum_dc(index->at(row, first_mcu_ / interval), rows[i].base);
      transform_row(row, rows[i].base);
      y = emit_ready(box, y, row, target);
    }
  }
  return true;
}

}  // namespace headrace::jpeg
