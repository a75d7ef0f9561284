// SPDX-License-Identifier: Apache-2.0
/// \file Which ranges processes of the node fetch right now, so that no two fetch the same one.
///
/// A claim is an exclusive lock on one byte of the empty file `claims`, at a hash of the range:
/// never waited for, gone with its process. It is only a courtesy. Losing one, or two ranges with
/// the same byte, costs a second request and nothing else.
///
/// Thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "headrace/storage/keep/disk.h"
#include "headrace/storage/keep/disk_pool.h"

namespace headrace::keep {

class Claims {
 public:
  /// Opens the file and says to others that someone reads this store (a shared lock at the hash of
  /// its name). Until then every range is as good as claimed.
  /// REQUIRES: one thread at a time; not again once it is open
  Result<void> open(Disk& disk, const std::string& store);
  bool is_open() const { return is_open_.load(std::memory_order_acquire); }

  /// False if another process has it. A disk without locks gives every claim.
  bool take(const RangeId& range);
  void drop(const RangeId& range);
  /// Nobody else reads this store through the cache now.
  bool is_alone();

 private:
  std::unique_ptr<DiskFile> file_;
  LockByte presence_{};
  std::atomic<bool> is_open_ = false;
};

}  // namespace headrace::keep
