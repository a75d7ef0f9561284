// SPDX-License-Identifier: Apache-2.0
/// \file A Job as Python holds it: waits can be interrupted, threads do not survive a fork, and
/// the end does not hang.
///
/// REQUIRES of all calls: the Global Interpreter Lock is held.
#pragma once

#include <unistd.h>

#include <atomic>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/job/job.h"
#include "py_batch.h"

namespace headrace::python {

/// What the job waits for that another program must do: said by its threads, shown by Python's
/// `logging` (logger "headrace", as warnings) from the thread that waits. Thread-safe.
class Waits {
 public:
  void add(const std::string& what);
  /// REQUIRES: the lock is held
  void show();

 private:
  Mutex mutex_;
  std::vector<std::string> unsaid_ HEADRACE_GUARDED_BY(mutex_);
};

class OpenJob {
 public:
  /// Raises the job's error, or KeyboardInterrupt.
  static std::unique_ptr<OpenJob> open(const JobOptions& asked);
  OpenJob(const OpenJob&) = delete;
  OpenJob& operator=(const OpenJob&) = delete;
  ~OpenJob();

  /// As Loader::next. After an interrupt the batch that was waited for is the next one.
  std::optional<std::unique_ptr<PyBatch>> next();
  const EpochReport& epoch_report() const { return report_; }
  /// As of the last batch that `next` returned, not of one that was waited for in vain.
  const State& state() const { return state_; }
  /// Raises if the job is closed, or was opened before a fork.
  Job& job() const;
  /// Waits for the job's threads to end; a second call does nothing.
  void close();

 private:
  struct Pulled {
    Result<std::optional<std::unique_ptr<Batch>>> batch;
    State state;
    EpochReport report;
  };

  OpenJob(std::unique_ptr<Job> job, const Transform& transform, std::shared_ptr<Waits> waits);
  Pulled pull();

  const pid_t process_ = ::getpid();
  const Transform transform_;
  const std::shared_ptr<Waits> waits_;
  std::unique_ptr<Job> job_;
  std::stop_source stop_;
  std::unique_ptr<std::future<Pulled>> pending_;
  std::atomic<bool> waited_for_ = false;
  State state_;
  EpochReport report_;
};

}  // namespace headrace::python
