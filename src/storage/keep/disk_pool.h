// SPDX-License-Identifier: Apache-2.0
/// \file Reads of the cache's disk, by several threads, from which they can be taken back when the
/// disk does not answer. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/cache.h"
#include "headrace/storage/store.h"

namespace headrace::keep {

/// Which bytes of which version of an object.
struct RangeId {
  Hash128 object;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  bool operator==(const RangeId&) const = default;
};

struct DiskRead {
  RangeId id;
  ReadRequest request;
  ReadDone done;
  std::function<void(Result<Bytes>)> side;  ///< for derived bytes and parts, instead of `done`
  Parts parts;
  std::shared_ptr<const WantedParts> wanted;  ///< of `parts`; null: all
};
using DiskReadPtr = std::unique_ptr<DiskRead>;

class DiskPool {
 public:
  /// Called once for each read that was not taken back.
  using Answer = std::function<void(DiskReadPtr, Result<Bytes>)>;

  DiskPool(Cache& cache, unsigned lanes, Answer answer);

  /// Answers it at once, `cancelled`, after `close`.
  void push(DiskReadPtr read);
  /// The body of one thread, until `close`. REQUIRES: one thread a lane
  void work(std::size_t lane);
  std::size_t lanes() const { return lane_count_; }
  void close();

  /// Takes over all reads, those that the disk works on too: what it gives for them is dropped.
  std::vector<DiskReadPtr> take_all();
  /// The same for those that nobody wants any more.
  std::vector<DiskReadPtr> take_stopped();

 private:
  std::vector<DiskReadPtr> take_if(const std::function<bool(const DiskRead&)>& wanted);

  Cache& cache_;
  const Answer answer_;
  const std::size_t lane_count_;
  Mutex mutex_;
  Condition ready_;
  std::deque<DiskReadPtr> queue_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<DiskReadPtr> at_work_ HEADRACE_GUARDED_BY(mutex_);  ///< by lane; null: none, or taken
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
};

}  // namespace headrace::keep
