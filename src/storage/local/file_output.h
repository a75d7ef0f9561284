// SPDX-License-Identifier: Apache-2.0
/// \file The bytes of one new file, in order; those of a large one past the page cache.
///
/// Not thread-safe. What must be on the disk before it has a name gains nothing from the page
/// cache: it is copied into fresh pages, pushes out what others read, and fsync then waits for all
/// of it at once, which on the disk we measured took four to five times as long as O_DIRECT
/// (docs/PERFORMANCE.md). Two pieces are written, each by a thread, while the next is filled; only
/// where the file is long enough already does a file system let both in at once, so its space is
/// reserved ahead, unless little is free. File systems without O_DIRECT are written to as ever.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <future>
#include <limits>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/storage/local/local_file.h"

namespace headrace::local {

class FileOutput {
 public:
  static constexpr std::uint64_t kNever = std::numeric_limits<std::uint64_t>::max();

  /// `fd` is open for writing and at its file's beginning, and stays open while this is used. The
  /// first `direct_after` bytes go through the page cache.
  FileOutput(int fd, std::uint64_t direct_after) : fd_(fd), direct_after_(direct_after) {}

  /// What a piece that is written meanwhile suffers from is said by a later call.
  Result<void> append(ByteSpan bytes);
  /// Writes what is still held back: to be called once, before fsync.
  Result<void> flush();

 private:
  struct Piece {
    AlignedBuffer memory;
    std::future<Result<void>> writing;  // of the memory; last, since it ends with its thread
  };
  Piece& filling() { return pieces_[at_]; }
  bool direct() const { return !pieces_[at_].memory.aligned.empty(); }
  Result<void> write_through_cache(ByteSpan bytes);
  Result<void> begin_direct(ByteSpan& bytes);
  Result<void> hand_over();
  void reserve(std::uint64_t end);

  const int fd_;
  std::uint64_t direct_after_;
  std::uint64_t written_ = 0;   // or being written
  std::uint64_t reserved_ = 0;  // the file is so long; kNever: no more of that
  bool longer_ = false;         // than what is written
  std::array<Piece, 3> pieces_;
  std::size_t at_ = 0;  // the piece that is filled
  std::size_t filled_ = 0;
};

}  // namespace headrace::local
