// SPDX-License-Identifier: Apache-2.0
/// \file A disk that knows how long its oldest call has been under way, and that can be shut.
///
/// A call into a disk that hangs cannot be taken back, and its thread not be joined. So everyone
/// who waits asks here instead, and a thread that was left behind finds the disk shut when its call
/// returns at last. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "headrace/base/clock.h"
#include "headrace/base/mutex.h"
#include "headrace/storage/keep/disk.h"

namespace headrace::keep {

class DiskWatch {
 public:
  explicit DiskWatch(Clock& clock) : clock_(clock) {}

  /// A call has been under way since before `since`.
  bool is_stuck(Nanos since) const;
  /// A number that stays the same as long as the same call is the oldest one under way.
  std::optional<std::uint64_t> oldest() const;
  /// Every later call fails at once, `cancelled`.
  void shut();

  /// Around a call. `cancelled` if the disk is shut.
  Result<std::uint64_t> begin();
  void end(std::uint64_t call);

 private:
  Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::uint64_t, Nanos> under_way_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t calls_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool shut_ HEADRACE_GUARDED_BY(mutex_) = false;
};

/// The same disk, watched.
std::unique_ptr<Disk> watch_disk(std::unique_ptr<Disk> disk, std::shared_ptr<DiskWatch> watch);

}  // namespace headrace::keep
