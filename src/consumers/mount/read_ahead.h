// SPDX-License-Identifier: Apache-2.0
/// \file What to fetch for a read, and how far beyond it: learns from the reads of one file which
/// of them run through it and which jump.
///
/// Pure: no I/O, no clock, no threads (its owner locks). One a file, for all who read it: several
/// may run through different places of it at once, so it follows up to four *runs*.
///
///     first read, at 0          begins a run: most who read a file's head read on
///     first read, elsewhere     a jump: exactly what was asked, nothing more
///     read where a run stands   the run's window doubles, up to `window`
///     any other read            a jump, and the beginning of a run if it goes on from there
///
/// "Where a run stands" is wide: the kernel sends the reads of one reader side by side, so they
/// come out of order.
#pragma once

#include <array>
#include <cstdint>

namespace headrace::mount {

struct ReadAheadOptions {
  /// A file up to this is read whole, at its first read: one request.
  std::uint64_t whole = std::uint64_t{1} << 20U;
  /// The window of a run that begins.
  std::uint64_t first = std::uint64_t{1} << 20U;
  /// The largest request. Smaller ones at the beginning of a run, so that it begins soon.
  std::uint64_t part = std::uint64_t{4} << 20U;
  /// How far ahead of its reader a run gets: 16 requests of 4 MiB. At S3's 30 ms and 85 MB/s a
  /// connection they carry 1 GB/s.
  std::uint64_t window = std::uint64_t{64} << 20U;
};

class ReadAhead {
 public:
  explicit ReadAhead(std::uint64_t size, const ReadAheadOptions& options = {})
      : size_(size), options_(options) {}

  struct Plan {
    std::uint64_t begin = 0;  ///< of what must be there to answer the read
    std::uint64_t end = 0;
    std::uint64_t ahead = 0;  ///< fetch on up to here, if there is room; == end: no further
    std::uint64_t step = 0;   ///< largest request; requests end at its multiples. 0: exactly one
  };

  /// REQUIRES: offset < size, length > 0
  Plan on_read(std::uint64_t offset, std::uint64_t length);

  /// Runs that it follows now.
  std::size_t runs() const;

 private:
  struct Run {
    std::uint64_t next = 0;    // where its reader will read
    std::uint64_t window = 0;  // 0: no run yet, a place where a jump ended
    std::uint64_t grown = 0;   // `next` when the window last grew
    std::uint64_t used = 0;    // by `turn_`; 0: free
  };

  Run* find(std::uint64_t offset);
  Run& oldest();

  std::uint64_t size_;
  ReadAheadOptions options_;
  std::array<Run, 4> runs_{};
  std::uint64_t turn_ = 0;
};

/// Where the request that begins at `begin` ends: at a multiple of `step`, or at `end`.
std::uint64_t request_end(std::uint64_t begin, std::uint64_t end, std::uint64_t step);

}  // namespace headrace::mount
