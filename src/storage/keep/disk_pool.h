// SPDX-License-Identifier: Apache-2.0
/// \file The threads that read the cache's disk, from which reads can be taken back when the disk
/// does not answer. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "headrace/base/clock.h"
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
  std::uint64_t place = 0;
  ReadRequest request;
  ReadDone done;
  Parts parts;
};
using DiskReadPtr = std::unique_ptr<DiskRead>;

class DiskPool {
 public:
  /// Called on a thread of the pool, once for each read that was not taken back.
  using Answer = std::function<void(DiskReadPtr, Result<Bytes>)>;

  DiskPool(Cache& cache, Clock& clock, unsigned threads, Answer answer);
  DiskPool(const DiskPool&) = delete;
  DiskPool& operator=(const DiskPool&) = delete;
  /// Answers all that is queued with `cancelled`, and waits for what the disk still works on.
  ~DiskPool();

  void push(DiskReadPtr read);

  /// Takes over reads that the disk has worked on since before `since`, and if there are any, all
  /// that wait behind them.
  std::vector<DiskReadPtr> take_back(Nanos since);
  /// True while a thread has been on the disk since before `since`, its read taken back or not.
  bool is_stuck(Nanos since) const;

 private:
  struct Lane {
    Nanos since{0};
    bool busy = false;
    DiskReadPtr read;  ///< null: taken back
  };

  void work(std::size_t lane);

  Cache& cache_;
  Clock& clock_;
  const Answer answer_;
  mutable Mutex mutex_;
  Condition ready_;
  std::deque<DiskReadPtr> queue_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<Lane> lanes_ HEADRACE_GUARDED_BY(mutex_);
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::vector<std::jthread> threads_;
};

}  // namespace headrace::keep
