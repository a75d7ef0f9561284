// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/file_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <tuple>
#include <utility>

#include "headrace/base/write_all.h"
#include "headrace/storage/local/local_file.h"

namespace headrace::local {
namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20U;

/// By O_DIRECT, if that is set and the file system will.
Result<void> write_through(int fd, ByteSpan bytes) {
  int failed = write_all(fd, bytes);
  if (failed == EINVAL && set_direct(fd, false)) {
    failed = write_all(fd, bytes);  // it wants other blocks, or has written a part of one
  }
  if (failed != 0) return errno_error(failed, "write");
  return {};
}

}  // namespace

Result<void> FileOutput::append(ByteSpan bytes) {
  if (filling_.aligned.empty()) {
    const std::uint64_t before = direct_after_ - std::min(direct_after_, written_);
    const auto first = bytes.first(std::min<std::uint64_t>(before, bytes.size()));
    HEADRACE_TRY(write_through_cache(first));
    bytes = bytes.subspan(first.size());
    if (!bytes.empty()) HEADRACE_TRY(begin_direct(bytes));
  }
  while (!bytes.empty() && !filling_.aligned.empty()) {
    const std::size_t taken = std::min(bytes.size(), kPiece - filled_);
    std::memcpy(&filling_.aligned[filled_], bytes.data(), taken);
    filled_ += taken;
    bytes = bytes.subspan(taken);
    if (filled_ == kPiece) HEADRACE_TRY(hand_over());
  }
  return write_through_cache(bytes);
}

Result<void> FileOutput::flush() {
  HEADRACE_TRY(settle());
  if (filling_.aligned.empty()) return {};
  const auto rest = filling_.aligned.first(filled_);
  const std::size_t whole = filled_ / kDirectBlock * kDirectBlock;
  HEADRACE_TRY(write_through(fd_, rest.first(whole)));
  std::ignore = set_direct(fd_, false);  // else the next write fails, and says so
  return write_through(fd_, rest.subspan(whole));
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
  HEADRACE_TRY(filling_, allocate_aligned(kPiece));
  HEADRACE_TRY(leaving_, allocate_aligned(kPiece));
  return {};
}

Result<void> FileOutput::hand_over() {
  HEADRACE_TRY(settle());
  std::swap(filling_, leaving_);
  filled_ = 0;
  const auto write = [fd = fd_, bytes = leaving_.aligned] { return write_through(fd, bytes); };
  try {
    writing_ = std::async(std::launch::async, write);
  } catch (const std::system_error&) {  // no thread is left
    return write();
  }
  return {};
}

Result<void> FileOutput::settle() { return writing_.valid() ? writing_.get() : Result<void>(); }

Result<void> FileOutput::write_through_cache(ByteSpan bytes) {
  HEADRACE_TRY(write_through(fd_, bytes));
  written_ += bytes.size();
  return {};
}

}  // namespace headrace::local
