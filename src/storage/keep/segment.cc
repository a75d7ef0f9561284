// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/segment.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace headrace::keep {
namespace {

constexpr std::size_t kReadAtOnce = std::size_t{256} << 10U;

}  // namespace

std::string log_name(const SegmentName& name) { return name.stem() + ".log"; }
std::string data_name(const SegmentName& name) { return name.stem() + ".data"; }
std::string new_name(const SegmentName& name) { return name.stem() + ".new"; }

Result<std::shared_ptr<Segment>> Segment::open(Disk& disk, const SegmentName& name) {
  HEADRACE_TRY(auto log, disk.open(log_name(name), OpenMode::read));
  std::vector<std::byte> start(std::size_t{8} << 10U);
  HEADRACE_TRY(const std::size_t got, log->read_at(0, start));
  auto header = parse_header(ByteSpan(start).first(got));
  if (!header || header->salt != name.salt)
    return Error(Code::corrupt, "no segment of this version").at(log_name(name));
  std::shared_ptr<Segment> segment(new Segment(disk, name, std::move(log)));
  segment->followed_ = header->bytes;
  segment->header_ = *std::move(header);
  return segment;
}

Result<bool> Segment::is_live() { return log_->is_locked(LockByte::owner); }

Result<bool> Segment::is_wanted() { return log_->is_locked(LockByte::use); }

Result<void> Segment::follow(const std::function<void(const Entry&)>& sink) {
  if (finished_) return {};
  // Asked before reading: what the owner wrote before it let go is read then.
  HEADRACE_TRY(const bool live, is_live());
  std::vector<std::byte> buffer(kReadAtOnce);
  std::size_t filled = 0;
  while (true) {
    HEADRACE_TRY(const std::size_t got,
                 log_->read_at(followed_ + filled, std::span(buffer).subspan(filled)));
    filled += got;
    const bool at_end = filled < buffer.size();
    ByteSpan rest = ByteSpan(buffer).first(filled);
    std::uint64_t before = followed_;
    while (const auto parsed = parse_entry(rest, header_.salt, followed_)) {
      sink(parsed->entry);
      followed_ += parsed->bytes;
      rest = rest.subspan(parsed->bytes);
    }
    if (at_end || followed_ == before) break;  // no whole entry in a full buffer: damage
    std::ranges::copy(rest, buffer.begin());
    filled = rest.size();
  }
  if (!live) finished_ = true;
  return {};
}

std::shared_ptr<DiskFile> Segment::opened() {
  const MutexLock lock(mutex_);
  return data_;
}

Result<bool> Segment::hold(bool touch) {
  if (held_) return true;
  HEADRACE_TRY(const bool locked, log_->try_lock(LockByte::use, LockKind::shared));
  if (!locked) return false;
  HEADRACE_TRY(const bool linked, log_->is_linked());
  if (!linked) return false;
  held_ = true;
  if (touch) std::ignore = disk_.touch(log_name(name_)).ok();  // an order of age, no more
  return true;
}

Result<void> Segment::release() {
  held_ = false;
  return log_->unlock(LockByte::use);
}

Result<bool> Segment::read(std::uint64_t data_offset, std::span<std::byte> into, bool wait) {
  std::shared_ptr<DiskFile> data = opened();
  if (!data) {
    if (!wait) return false;
    // Without the lock, since the disk may hang; opened twice is no harm.
    HEADRACE_TRY(data, disk_.open(data_name(name_), OpenMode::read));
    const MutexLock lock(mutex_);
    data_ = data;
  }
  if (!wait) {
    HEADRACE_TRY(const std::size_t at_hand, data->read_at_hand(data_offset, into));
    return at_hand == into.size();
  }
  HEADRACE_TRY(const std::size_t got, data->read_at(data_offset, into));
  if (got < into.size()) {
    return Error(Code::corrupt,
                 fmt::format("ends at {}, before {}", data_offset + got, data_offset + into.size()))
        .at(data_name(name_));
  }
  return true;
}

namespace {

/// Both locks of a log, or nothing if someone else has one.
Result<bool> lock_whole(DiskFile& log) {
  for (const LockByte byte : {LockByte::owner, LockByte::use}) {
    HEADRACE_TRY(const bool locked, log.try_lock(byte, LockKind::exclusive));
    if (!locked) return false;
  }
  return true;
}

Result<void> remove_if_there(Disk& disk, const std::string& name) {
  auto removed = disk.remove(name);
  if (!removed && removed.error().code() == Code::not_found) return {};
  return removed;
}

}  // namespace

Result<bool> evict_segment(Disk& disk, const SegmentName& name) {
  auto log = disk.open(log_name(name), OpenMode::write);
  if (!log && log.error().code() == Code::not_found) return true;
  if (!log) return std::move(log).error();
  HEADRACE_TRY(const bool locked, lock_whole(**log));
  if (!locked) return false;
  // The data first: a log without data is still a segment, and can be evicted again.
  HEADRACE_TRY(remove_if_there(disk, data_name(name)));
  HEADRACE_TRY(remove_if_there(disk, log_name(name)));
  return true;
}

Result<bool> tidy_up(Disk& disk, const std::string& file) {
  const auto ends = [&file](std::string_view suffix) { return file.ends_with(suffix); };
  if (ends(".new")) {
    auto log = disk.open(file, OpenMode::write);
    if (!log && log.error().code() == Code::not_found) return true;
    if (!log) return std::move(log).error();
    HEADRACE_TRY(const bool locked, lock_whole(**log));
    if (!locked) return false;
    HEADRACE_TRY(remove_if_there(disk, file));
    return true;
  }
  if (ends(".data")) {
    // A log is there before its data and goes after it: data without a log belongs to nobody.
    const auto stem = file.substr(0, file.size() - std::string_view(".data").size());
    const auto log = disk.open(stem + ".log", OpenMode::read);
    if (log || log.error().code() != Code::not_found) return false;
    HEADRACE_TRY(remove_if_there(disk, file));
    return true;
  }
  return false;
}

}  // namespace headrace::keep
