// SPDX-License-Identifier: Apache-2.0
/// \file Watches reads that have begun, and tells those which wait too long.
///
/// Thread-safe. One thread, which sleeps while nothing is watched. hedge.h decides what too long
/// is, and how many may be told.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <thread>

#include "headrace/base/mutex.h"
#include "headrace/storage/s3/hedge.h"

namespace headrace::s3 {

class Hedger {
 public:
  class Read {
   public:
    Read() = default;
    Read(const Read&) = delete;
    Read& operator=(const Read&) = delete;
    virtual ~Read() = default;
    /// What it is watched for has not come yet: the first byte, or of a part the last.
    virtual bool waits() const = 0;
    /// Called on the hedger's thread.
    virtual void hedge() = 0;
  };

  explicit Hedger(const HedgeOptions& options = {}) : policy_(options) {}
  Hedger(const Hedger&) = delete;
  Hedger& operator=(const Hedger&) = delete;
  ~Hedger() { stop(); }

  /// No read is told any more when this returns. Reads may still be said to have begun: who says so
  /// must be gone before the hedger is.
  void stop();

  void began(const std::shared_ptr<Read>& read);
  /// It came after this time.
  void came(Nanos time);

 private:
  struct Watched {
    std::chrono::steady_clock::time_point since;
    std::weak_ptr<Read> read;
  };
  void run();

  Mutex mutex_;
  Condition changed_;
  HedgePolicy policy_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<Watched> watched_ HEADRACE_GUARDED_BY(mutex_);  // in the order they began
  bool idle_ HEADRACE_GUARDED_BY(mutex_) = false;            // the thread sleeps without a time
  bool stop_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::thread thread_ HEADRACE_GUARDED_BY(mutex_);  // from the first read that is watched on
};

}  // namespace headrace::s3
