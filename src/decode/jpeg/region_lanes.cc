// SPDX-License-Identifier: Apache-2.0
// The rectangle by lanes: of an indexed picture every stretch between two checkpoints is one; of
// others scouts find out where stretches begin.
#include <algorithm>
#include <cstring>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/region.h"
#include "headrace/decode/jpeg/unstuff.h"

namespace headrace::jpeg {
namespace {

/// Coefficients that are decoded before they are transformed: 1 MB, so they stay in the cache.
constexpr std::size_t kBandSize = std::size_t{1} << 19U;

constexpr std::uint64_t kMostAhead = 8192;  // of bytes of the next row

constexpr std::uint32_t kStretch = 6;  // MCUs, where every one may begin one

constexpr std::size_t kTables = LaneTables::kParts * kLaneTable;

}  // namespace

void RegionDecoder::plan_lanes(LaneJob& job) {
  list_blocks();
  job.slots = row_.size() / (mcus_.last - mcus_.first);
  for (std::size_t slot = 0; slot < job.slots; ++slot) {
    const std::uint32_t at = first_with_tables_of(row_[slot].component);
    job.first_entry[slot] = static_cast<std::uint32_t>(at * kTables);
    job.tables[slot] = &lane_tables_[at];
  }
  job.row = row_;
  job.entries = lane_entries_.data();
}

/// Appends the clean bytes of a row's stretches to clean_, of which `used` are taken.
bool RegionDecoder::add_stretches(const SeekIndex& index, std::uint32_t mcu_row, std::int16_t* out,
                                  std::size_t& used) {
  const auto run = stretch_of(index, mcus_, mcu_row, outline(), bytes_.size());
  if (!run || (!there_.empty() && !covers(there_, *run))) return false;
  touched_ += run->end - run->begin;
  const auto* bytes = static_cast<const std::uint8_t*>(static_cast<const void*>(bytes_.data()));
  if (mcu_row + 1 < mcus_.last_row) {
    // Rows lie apart, which a processor that prefetches by itself does not foresee.
    const auto ahead = stretch_of(index, mcus_, mcu_row + 1, outline(), bytes_.size());
    const std::uint64_t end = ahead ? std::min(ahead->end, ahead->begin + kMostAhead) : 0;
    for (std::uint64_t at = ahead ? ahead->begin : 0; at < end; at += 64) {
      __builtin_prefetch(bytes + at);
    }
  }
  const auto per_mcu = static_cast<std::uint32_t>(row_.size()) / (mcus_.last - mcus_.first);
  Checkpoint begin = index.at(mcu_row, mcus_.first / index.interval());
  for (std::uint32_t mcu = mcus_.first; mcu < mcus_.last;) {
    const std::uint32_t next = std::min(mcu + index.interval(), mcus_.last);
    const bool last = next == mcus_.last;
    const Checkpoint end = last ? Checkpoint{} : index.at(mcu_row, next / index.interval());
    const std::uint64_t from = begin.bit / 8;
    const std::uint64_t to = last ? run->end : (end.bit + 7) / 8;
    if (from < run->begin || from >= to || to > run->end) return false;
    // A true index has room for all; one that is wrong may have every stretch be all bytes.
    if (used + (to - from) + kLookSlack > clean_.size()) return false;
    stretches_.push_back({used * 8 + begin.bit % 8, (mcu - mcus_.first) * per_mcu,
                          (next - mcu) * per_mcu, out, begin.predictors});
    std::uint8_t* const stop = unstuff(bytes + from, bytes + to, clean_.data() + used).to;
    used = static_cast<std::size_t>(stop - clean_.data());
    mcu = next;
    begin = end;
  }
  return true;
}

/// Lanes write whole blocks; what a row's last group has beyond them is to be something harmless.
void RegionDecoder::clear_spare_blocks(std::int16_t* coefficients) const {
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    const Plane& plane = planes_[i];
    if (std::size_t{mcus_.last - mcus_.first} * plane.h % kGroupBlocks == 0) continue;
    for (std::uint32_t y = 1; y <= plane.v; ++y) {
      std::fill_n(coefficients + plane.arena_offset + y * plane.row_stride - kGroupSize, kGroupSize,
                  std::int16_t{0});
    }
  }
}

bool RegionDecoder::build_lane_tables() {
  lane_entries_.resize(lane_tables_.size() * kTables);
  for (std::uint32_t i = 0; i < headers_.component_count; ++i) {
    if (first_with_tables_of(i) != i) continue;
    const Component& c = headers_.components[i];
    LaneEntry* const out = lane_entries_.data() + i * kTables;
    if (!lane_tables_[i].build(headers_.dc[c.dc], headers_.ac[c.ac], out)) return false;
  }
  return true;
}

/// Decodes, transforms and emits as many rows at once as the cache holds. `add` adds the stretches
/// of an MCU row, whose coefficients go where it is told.
template <class AddStretches>
bool RegionDecoder::decode_bands(LaneJob& job, const Box& box, const Target& target,
                                 const AddStretches& add) {
  const std::uint32_t rows = mcus_.last_row - mcus_.first_row;
  const std::size_t at_once = std::clamp<std::size_t>(kBandSize / arena_size_, 1, rows);
  std::int16_t* const out = band_.room(at_once * arena_size_);
  std::uint32_t y = box.top;
  for (std::uint32_t row = mcus_.first_row; row < mcus_.last_row;) {
    const std::size_t count = std::min<std::size_t>(at_once, mcus_.last_row - row);
    stretches_.clear();
    for (std::size_t i = 0; i < count; ++i) {
      clear_spare_blocks(out + i * arena_size_);
      if (!add(row + static_cast<std::uint32_t>(i), out + i * arena_size_)) return false;
    }
    job.stretches = stretches_;
    if (!decode_lanes(job)) return false;
    for (std::size_t i = 0; i < count; ++i, ++row) {
      transform_row(row, out + i * arena_size_);
      y = emit_ready(box, y, row, target);
    }
  }
  return true;
}

bool RegionDecoder::decode_by_lanes(const SeekIndex& index, const Box& box, const Target& target) {
  if (!build_lane_tables()) return false;
  LaneJob job;
  plan_lanes(job);
  const std::uint32_t stretches =
      divide_up(mcus_.last - mcus_.first, index.interval()) * (mcus_.last_row - mcus_.first_row);
  const std::size_t clean = bytes_.size() + stretches + kLookSlack;  // a byte may belong to two
  if (clean_.size() < clean) clean_.resize(clean);
  job.bytes = clean_.data();
  std::size_t used = 0;
  return decode_bands(job, box, target, [&](std::uint32_t row, std::int16_t* out) {
    if (stretches_.empty()) used = 0;
    if (!add_stretches(index, row, out, used)) return false;
    std::memset(clean_.data() + used, 0, kLookZeros);
    job.limit = used * 8;
    return true;
  });
}

std::optional<bool> RegionDecoder::decode_by_scouts(const Box& box, const Target& target) {
  scouted_ = false;
  const double share = scouted_share();
  if (share == 0 || headers_.restart_interval != 0) return std::nullopt;
  const std::size_t all = std::size_t{scan_.mcus_per_row()} * scan_.mcu_rows();
  const std::size_t wanted =
      std::size_t{mcus_.last - mcus_.first} * (mcus_.last_row - mcus_.first_row);
  const bool pays = static_cast<double>(wanted) <= share * static_cast<double>(all);
  if (!pays && least_scouted_ > 0) return std::nullopt;
  if (scan_.clean_bits() < least_scouted_ * 8 || !build_lane_tables()) return std::nullopt;
  LaneJob job;
  plan_lanes(job);
  job.bytes = scan_.clean();
  job.limit = scan_.clean_bits();
  const std::uint32_t per_row = scan_.mcus_per_row();
  if (!scout(job, all, scouts_, mcu_starts_)) return std::nullopt;
  scouted_ = true;
  scan_.note_checkpoints(mcu_starts_);
  const auto per_mcu = static_cast<std::uint32_t>(job.slots);
  return decode_bands(job, box, target, [&](std::uint32_t row, std::int16_t* out) {
    for (std::uint32_t mcu = mcus_.first; mcu < mcus_.last; mcu += kStretch) {
      const Checkpoint& start = mcu_starts_[std::size_t{row} * per_row + mcu];
      stretches_.push_back({start.bit, (mcu - mcus_.first) * per_mcu,
                            std::min(kStretch, mcus_.last - mcu) * per_mcu, out, start.predictors});
    }
    return true;
  });
}

}  // namespace headrace::jpeg
