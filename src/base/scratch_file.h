// SPDX-License-Identifier: Apache-2.0
/// \file Bytes that would not fit into memory and are not worth a name: a file that is gone when
/// the process ends, however it ends.
///
/// Thread-safe: appends and reads may come from any thread. The file lies in $HEADRACE_TMPDIR,
/// else $TMPDIR, else /var/tmp (not /tmp, which is often memory).
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/base/unique_fd.h"

namespace headrace {

/// An unlinked file, open for reading and writing.
Result<UniqueFd> make_scratch_fd();

/// errno_error with the folder of scratch files as its place, and what to do about a full one.
Error scratch_error(int error_number, std::string_view doing);

class ScratchFile {
 public:
  static Result<ScratchFile> make();

  ScratchFile(ScratchFile&& other) noexcept : fd_(std::move(other.fd_)), end_(other.end_.load()) {}

  /// Where the bytes lie now. A full disk is `exhausted`.
  Result<std::uint64_t> append(ByteSpan bytes);
  /// REQUIRES: all of it was appended
  Result<void> read(std::uint64_t offset, std::span<std::byte> into) const;

 private:
  explicit ScratchFile(UniqueFd fd) : fd_(std::move(fd)) {}

  UniqueFd fd_;
  std::atomic<std::uint64_t> end_ = 0;
};

}  // namespace headrace
