// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/file_output.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <tuple>

#include "headrace/base/write_all.h"
#include "headrace/storage/local/local_file.h"

namespace headrace::local {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20U;
constexpr std::uint64_t kReserve = std::uint64_t{32} << 20U;
constexpr std::uint64_t kRoom = std::uint64_t{2} << 30U;  // reserving must not fill a disk

/// By O_DIRECT, if that is set and the file system will.
Result<void> write_through(int fd, ByteSpan bytes, std::uint64_t offset) {
  int failed = write_all_at(fd, bytes, offset);
  if (failed == EINVAL && set_direct(fd, false)) {
    failed =
        write_all_at(fd, bytes, offset);  // it wants other blocks, or has written a part of one
  }
  if (failed != 0) return errno_error(failed, "write");
  return {};
}

Result<void> settle(std::future<Result<void>>& writing) {
  return writing.valid() ? writing.get() : Result<void>();
}

}  // namespace

Result<void> FileOutput::append(ByteSpan bytes) {
  if (!direct()) {
    const std::uint64_t before = direct_after_ - std::min(direct_after_, written_);
    const auto first = bytes.first(std::min<std::uint64_t>(before, bytes.size()));
    HEADRACE_TRY(write_through_cache(first));
    bytes = bytes.subspan(first.size());
    if (!bytes.empty()) HEADRACE_TRY(begin_direct(bytes));
  }
  while (!bytes.empty() && direct()) {
    const std::size_t taken = std::min(bytes.size(), kPiece - filled_);
    std::memcpy(&filling().memory.aligned[filled_], bytes.data(), taken);
    filled_ += taken;
    bytes = bytes.subspan(taken);
    if (filled_ == kPiece) HEADRACE_TRY(hand_over());
  }
  return write_through_cache(bytes);
}

Result<void> FileOutput::flush() {
  for (std::size_t i = 1; i <= pieces_.size(); ++i)  // the oldest first
    HEADRACE_TRY(settle(pieces_[(at_ + i) % pieces_.size()].writing));
  if (direct()) {
    const auto rest = filling().memory.aligned.first(filled_);
    const std::size_t whole = filled_ / kDirectBlock * kDirectBlock;
    HEADRACE_TRY(write_through(fd_, rest.first(whole), written_));
    std::ignore = set_direct(fd_, false);  // else the next write fails, and says so
    HEADRACE_TRY(write_through(fd_, rest.subspan(whole), written_ + whole));
    written_ += filled_;
    filled_ = 0;
  }
  if (longer_ && ::ftruncate(fd_, static_cast<off_t>(written_)) != 0)
    return errno_error(errno, "truncate");
  return {};
}

/// Only from a whole block on. Takes from `bytes` what is missing to one.
Result<void> FileOutput::begin_direct(ByteSpan& bytes) {
  const std::uint64_t missing = (kDirectBlock - written_ % kDirectBlock) % kDirectBlock;
  const auto first = bytes.first(std::min<std::uint64_t>(missing, bytes.size()));
  bytes = bytes.subspan(first.size());
  HEADRACE_TRY(write_through_cache(first));
  if (first.size() < missing) return {};
  if (!set_direct(fd_, true)) {
    direct_after_ = kNever;
    return {};
  }
  for (Piece& piece : pieces_) {
    HEADRACE_TRY(piece.memory, allocate_aligned(kPiece));
  }
  reserved_ = written_;
  return {};
}

Result<void> FileOutput::hand_over() {
  const std::uint64_t offset = written_;
  written_ += kPiece;
  filled_ = 0;
  reserve(written_);
  Piece& full = filling();
  at_ = (at_ + 1) % pieces_.size();
  const auto write = [fd = fd_, bytes = full.memory.aligned, offset] {
    return write_through(fd, bytes, offset);
  };
  try {
    full.writing = std::async(std::launch::async, write);
  } catch (const std::system_error&) {  // no thread is left
    HEADRACE_TRY(write());
  }
  return settle(filling().writing);
}

void FileOutput::reserve(std::uint64_t end) {
  while (reserved_ < end) {
    struct statvfs volume {};
    const bool roomy = ::fstatvfs(fd_, &volume) == 0 && volume.f_bavail * volume.f_frsize > kRoom;
    if (!roomy || ::fallocate(fd_, 0, static_cast<off_t>(reserved_), kReserve) != 0) {
      reserved_ = kNever;
      return;
    }
    longer_ = true;
    reserved_ += kReserve;
  }
}

Result<void> FileOutput::write_through_cache(ByteSpan bytes) {
  HEADRACE_TRY(write_through(fd_, bytes, written_));
  written_ += bytes.size();
  return {};
}

}  // namespace headrace::local
