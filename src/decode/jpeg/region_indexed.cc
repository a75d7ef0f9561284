// SPDX-License-Identifier: Apache-2.0
// The rectangle by a seek index: only the stretches of MCU rows that it needs, four at once.
#include <algorithm>
#include <cstring>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/region.h"
#include "headrace/decode/jpeg/unstuff.h"

namespace headrace::jpeg {
/// Components that are read by the same tables share them.
std::uint32_t RegionDecoder::first_with_tables_of(std::uint32_t component) const {
  const auto& all = headers_.components;
  const auto same = [&](const Component& c) {
    return c.dc == all[component].dc && c.ac == all[component].ac;
  };
  return static_cast<std::uint32_t>(std::find_if(all.begin(), &all[component], same) - all.begin());
}

bool RegionDecoder::build_tables() {
  const auto& all = headers_.components;
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    const std::uint32_t at = first_with_tables_of(i);
    tables_of_[i] = &tables_[at];
    if (at == i && !tables_[i].build(headers_.dc[all[i].dc], headers_.ac[all[i].ac],
                                     i == 0 ? kMostLookBits : kChromaLookBits)) {
      return false;
    }
  }
  return true;
}

void RegionDecoder::list_blocks() {
  row_.clear();
  for (std::uint32_t mcu = 0; mcu < mcus_.last - mcus_.first; ++mcu) {
    for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
      const Component& c = headers_.components[i];
      for (std::uint32_t y = 0; y < c.v; ++y) {
        for (std::uint32_t x = 0; x < c.h; ++x) {
          const std::size_t column = std::size_t{mcu} * c.h + x;
          const std::size_t out =
              planes_[i].arena_offset + y * planes_[i].row_stride + block_offset(column);
          row_.push_back({static_cast<std::uint32_t>(out), i});
        }
      }
    }
  }
}

void RegionDecoder::plan_blocks() {
  list_blocks();
  plan_.clear();
  const auto add = [&](std::uint32_t component, std::size_t out) {
    const BlockTables& t = *tables_of_[component];
    out *= sizeof(std::int16_t);
    plan_.push_back({{t.dc(), out, 64 - kDcLookBits, 0xff, &t.code(false)},
                     {t.ac(), out, 64 - t.ac_look_bits(), 0xffff, &t.code(true)}});
  };
  for (const RowBlock& block : row_) add(block.component, block.out);
  for (std::size_t i = 0; i < kSparePlans; ++i) add(0, arena_size_ - kGroupSize);
}

/// Appends the clean bytes of the row's stretch to clean_, of which `used` are taken.
bool RegionDecoder::read_stretch(const SeekIndex& index, std::uint32_t mcu_row, std::size_t& used,
                                 StreamRow& row) {
  const auto run = stretch_of(index, mcus_, mcu_row, outline(), bytes_.size());
  if (!run || (!there_.empty() && !covers(there_, *run))) return false;
  touched_ += run->end - run->begin;
  // The rows of a true index lie apart, and have room; of a wrong one each may be all bytes.
  if (used + (run->end - run->begin) + kLookSlack > clean_.size()) return false;
  std::uint8_t* const to = clean_.data() + used;
  const auto* bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(bytes_.data()));
  std::uint8_t* const stop = unstuff(bytes + run->begin, bytes + run->end, to).to;
  std::memset(stop, 0, kLookZeros);
  used = static_cast<std::size_t>(stop - clean_.data()) + kLookZeros;
  row.base = to;
  row.limit = static_cast<std::uint64_t>(stop - to) * 8;
  row.position = index.at(mcu_row, mcus_.first / index.interval()).bit % 8;
  return true;
}

/// Differences become values: each block's DC adds to the one before, of its component.
void RegionDecoder::sum_dc(const Checkpoint& begin, std::int16_t* coefficients) const {
  auto sums = begin.predictors;
  for (const RowBlock& block : row_) {
    std::int16_t& sum = sums[block.component];
    sum = static_cast<std::int16_t>(sum + coefficients[block.out]);
    coefficients[block.out] = sum;
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
  lay_out(box, index->interval());
  touched_ = headers_.scan_begin;
  return has_lanes() ? decode_by_lanes(*index, box, target)
                     : decode_by_streams(*index, box, target);
}

bool RegionDecoder::decode_by_streams(const SeekIndex& index, const Box& box,
                                      const Target& target) {
  if (!build_tables()) return false;
  plan_blocks();
  if (clean_.size() < bytes_.size() + kStreams * kLookSlack) {
    clean_.resize(bytes_.size() + kStreams * kLookSlack);
  }
  std::uint32_t y = box.top;
  for (std::uint32_t row = mcus_.first_row; row < mcus_.last_row;) {
    // As even as can be: one row alone at the end would take as long as several.
    const std::uint32_t left = mcus_.last_row - row;
    const std::size_t count = divide_up(left, divide_up(left, kStreams));
    std::array<StreamRow, kStreams> rows;
    std::size_t used = 0;
    for (std::size_t i = 0; i < count; ++i) {
      rows[i].out = arenas_[i].room(arena_size_);
      std::fill_n(rows[i].out, arena_size_, std::int16_t{0});
      if (!read_stretch(index, row + static_cast<std::uint32_t>(i), used, rows[i])) return false;
    }
    if (!decode_streams(std::span(rows).first(count), plan_)) return false;
    for (std::size_t i = 0; i < count; ++i, ++row) {
      sum_dc(index.at(row, mcus_.first / index.interval()), rows[i].out);
      transform_row(row, rows[i].out);
      y = emit_ready(box, y, row, target);
    }
  }
  return true;
}

}  // namespace headrace::jpeg
