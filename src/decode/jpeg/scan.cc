// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/jpeg/scan.h"

#include <algorithm>
#include <cstring>

#include "headrace/decode/jpeg/kernels.h"
#include "headrace/decode/jpeg/unstuff.h"

namespace headrace::jpeg {
namespace {

/// Behind the clean bytes: more than one MCU can take, so that a reader that ran over the end is
/// noticed before it leaves the buffer. 6 blocks of 64 codes of at most 27 bits are 1,296 bytes.
constexpr std::size_t kOverrun = 2048;

}  // namespace

bool ScanDecoder::start(const Headers& headers, ByteSpan bytes, std::uint32_t interval) {
  headers_ = &headers;
  interval_ = interval;
  recording_ = interval != 0 && headers.restart_interval == 0;
  checkpoints_.clear();
  stuffed_.clear();
  mcus_per_row_ = jpeg::mcus_per_row(headers);
  mcu_rows_ = jpeg::mcu_rows(headers);
  rows_done_ = 0;
  return unstuff(bytes);
}

bool ScanDecoder::begin_rows() {
  segment_ = 0;
  return build_tables() && begin_segment();
}

bool ScanDecoder::build_tables() {
  for (std::uint32_t i = 0; i < headers_->component_count; ++i) {
    const Component& c = headers_->components[i];
    if (!dc_[c.dc].build(headers_->dc[c.dc], HuffmanTable::Kind::dc) ||
        !ac_[c.ac].build(headers_->ac[c.ac], HuffmanTable::Kind::ac)) {
      return false;
    }
  }
  return true;
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
  for (;;) {
    const Unstuffed done =
        jpeg::unstuff(from, end, to, clean_.data(), recording_ ? &stuffed_ : nullptr);
    to = done.to;
    from = done.from;
    while (from < end && *from == 0xff) ++from;  // fill bytes
    if (from == end) return false;               // no EOI
    const unsigned marker = *from++;
    if (marker == 0xd9) {
      close_segment();
      std::memset(to, 0, kOverrun);
      return true;
    }
    // FF FF 00 is no stuffed zero: nobody agrees what that is.
    if (marker != 0xd0 + next_restart || headers_->restart_interval == 0) return false;
    next_restart = (next_restart + 1) % 8;
    close_segment();
  }
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

bool ScanDecoder::run(bool keep, std::uint32_t begin, std::uint32_t count,
                      const std::array<std::int16_t*, 3>& base,
                      const std::array<std::size_t, 3>& stride) {
  McuRun job;
  job.component_count = headers_->component_count;
  for (std::uint32_t i = 0; i < job.component_count; ++i) {
    const Component& c = headers_->components[i];
    job.components[i] = {&dc_[c.dc], &ac_[c.ac], c.h, c.v, base[i], stride[i], predictors_[i]};
  }
  job.bits = bits_;
  job.limit = clean_.data() + segments_[segment_].end + 8;
  job.keep = keep;
  job.begin = begin;
  job.count = count;
  if (!decode_mcus(job)) return false;
  bits_ = job.bits;
  for (std::uint32_t i = 0; i < job.component_count; ++i) {
    predictors_[i] = job.components[i].predictor;
  }
  return true;
}

void ScanDecoder::note_checkpoint() {
  Checkpoint& checkpoint = checkpoints_.emplace_back();
  checkpoint.bit = static_cast<std::uint32_t>(
      static_cast<std::uint64_t>(bits_.at - clean_.data()) * 8 - bits_.count);
  for (std::size_t i = 0; i < 3; ++i) {
    checkpoint.predictors[i] = static_cast<std::int16_t>(predictors_[i]);
  }
}

void ScanDecoder::note_checkpoints(std::span<const Checkpoint> mcus) {
  if (!recording_) return;
  for (std::size_t row = 0; row < mcus.size(); row += mcus_per_row_) {
    for (std::uint32_t mcu = 0; mcu < mcus_per_row_; mcu += interval_) {
      checkpoints_.push_back(mcus[row + mcu]);
    }
  }
}

std::span<const Checkpoint> ScanDecoder::checkpoints() {
  if (!recording_) return checkpoints_;
  recording_ = false;  // what follows is done once
  std::size_t passed = 0;
  for (Checkpoint& checkpoint : checkpoints_) {
    while (passed < stuffed_.size() && stuffed_[passed] <= checkpoint.bit / 8) ++passed;
    checkpoint.bit += static_cast<std::uint32_t>((headers_->scan_begin + passed) * 8);
  }
  return checkpoints_;
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
    std::uint32_t count = std::min(until - mcu, left_in_segment_);
    if (recording_) {
      if (mcu % interval_ == 0) note_checkpoint();
      count = std::min(count, interval_ - mcu % interval_);
    }
    std::array<std::int16_t*, 3> base{passed.data(), passed.data(), passed.data()};
    std::array<std::size_t, 3> stride{};
    if (keep) {
      for (std::uint32_t i = 0; i < headers_->component_count; ++i) {
        base[i] = targets[i].data;
        stride[i] = targets[i].row_stride;
      }
    }
    if (!run(keep, keep ? mcu - first : 0, count, base, stride)) return false;
    mcu += count;
    if (headers_->restart_interval != 0) left_in_segment_ -= count;
  }
  ++rows_done_;
  return true;
}

}  // namespace headrace::jpeg
