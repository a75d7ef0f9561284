// SPDX-License-Identifier: Apache-2.0
/// \file One segment as others see it: its log is followed, its data read, its locks looked at.
///
/// Thread-safe, except `follow`, which one thread at a time calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/disk.h"
#include "headrace/storage/keep/entry.h"

namespace headrace::keep {

class Segment {
 public:
  ///  * the segment
  ///  * corrupt: its header is damaged, or of another version
  ///  * not_found: evicted meanwhile
  static Result<std::shared_ptr<Segment>> open(Disk& disk, const SegmentName& name);

  const SegmentName& name() const { return name_; }
  const SegmentHeader& header() const { return header_; }

  /// Hands over the entries that were not handed over before; stops for good at a damaged one once
  /// nobody writes any more. An entry's name is valid during the call only.
  Result<void> follow(const std::function<void(const Entry&)>& sink);
  /// Bytes of the log that were handed over.
  std::uint64_t followed() const { return followed_; }
  /// Nobody writes to it any more, and all its entries were handed over.
  bool finished() const { return finished_; }
  /// Someone holds the owner's lock. Once false, it stays so.
  Result<bool> is_live();
  /// Someone (another than this object) wants it.
  Result<bool> is_wanted();

  /// Registers this process as one that wants it: it is not evicted until this object goes.
  /// False if it is being evicted. Without `touch` nothing of it waits for the disk.
  Result<bool> hold(bool touch = true);
  bool held() const { return held_; }
  /// Gives that up.
  Result<void> release();

  /// The pass over the data (Cache) in which something of it was last read.
  std::uint32_t last_pass() const { return last_pass_.load(std::memory_order_relaxed); }
  void set_last_pass(std::uint32_t pass) { last_pass_.store(pass, std::memory_order_relaxed); }
  /// Something of it was read at all.
  bool was_read() const { return was_read_.load(std::memory_order_relaxed); }
  void note_read(std::uint32_t pass) {
    if (last_pass() != pass) set_last_pass(pass);
    if (!was_read()) was_read_.store(true, std::memory_order_relaxed);
  }

  /// `corrupt` if the data ends before that. False, only without `wait`: it is not in memory.
  Result<bool> read(std::uint64_t data_offset, std::span<std::byte> into, bool wait);

  /// Its owner is this very process and inserts what it writes itself: nothing to follow.
  void set_finished() { finished_ = true; }

 private:
  Segment(Disk& disk, const SegmentName& name, std::unique_ptr<DiskFile> log)
      : disk_(disk), name_(name), log_(std::move(log)) {}

  std::shared_ptr<DiskFile> opened();

  Disk& disk_;
  const SegmentName name_;
  const std::unique_ptr<DiskFile> log_;
  SegmentHeader header_;
  std::uint64_t followed_ = 0;
  std::atomic<bool> finished_ = false;
  std::atomic<bool> held_ = false;
  std::atomic<std::uint32_t> last_pass_ = 0;
  std::atomic<bool> was_read_ = false;
  Mutex mutex_;
  std::shared_ptr<DiskFile> data_ HEADRACE_GUARDED_BY(mutex_);
};

/// Removes the segment if nobody writes to it or wants it. True if it is gone.
Result<bool> evict_segment(Disk& disk, const SegmentName& name);
/// Removes what is left of a segment that was being made, or data without a log, when their maker
/// died. True if it is gone.
Result<bool> tidy_up(Disk& disk, const std::string& file);

/// "stem.log", where the lock is; "stem.data"; "stem.new", a log that is being made.
std::string log_name(const SegmentName& name);
std::string data_name(const SegmentName& name);
std::string new_name(const SegmentName& name);

}  // namespace headrace::keep
