// SPDX-License-Identifier: Apache-2.0
/// \file The one segment that this store writes: data first, then the entries that point to it.
///
/// Not thread-safe: one thread writes. PROTOCOL.md has the steps by number.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/storage/keep/disk.h"
#include "headrace/storage/keep/entry.h"

namespace headrace::keep {

class SegmentWriter {
 public:
  /// Makes the log, locked from the moment it can be seen, and the data file.
  static Result<std::unique_ptr<SegmentWriter>> create(Disk& disk, const SegmentName& name,
                                                       const std::string& store);

  const SegmentName& name() const { return name_; }
  /// Bytes that can still be added, data and entries together.
  std::uint64_t room() const { return name_.capacity - data_end_ - log_end_; }
  bool empty() const { return data_end_ == 0; }

  /// Adds one piece's data and sets where it lies; the entry itself is written by `commit`.
  /// REQUIRES: room for both
  Result<void> append(ByteSpan data, Entry& entry);
  /// Writes the entries added since the last commit: from now on others may read them.
  Result<void> commit();

  /// Takes the segment away again. For one that turned out to be too much.
  void undo();

 private:
  SegmentWriter(Disk& disk, const SegmentName& name, std::unique_ptr<DiskFile> log)
      : disk_(disk), name_(name), log_(std::move(log)) {}

  Disk& disk_;
  const SegmentName name_;
  const std::unique_ptr<DiskFile> log_;
  std::unique_ptr<DiskFile> data_;
  std::uint64_t data_end_ = 0;
  std::uint64_t log_end_ = 0;       ///< with the entries that are not written yet
  std::vector<std::byte> entries_;  ///< not written yet
};

}  // namespace headrace::keep
