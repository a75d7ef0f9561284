// SPDX-License-Identifier: Apache-2.0
/// \file The writing side of mode pipe, on a thread of this process.
///
/// Thread-safe.
#pragma once

#include <memory>
#include <optional>
#include <thread>

#include "headrace/base/mutex.h"
#include "headrace/consumers/pipe/pipe_writer.h"

namespace headrace {

class PipeServer {
 public:
  /// Store and data set must outlive it.
  PipeServer(Store& store, const Dataset& dataset, pipe::WriterOptions options);
  PipeServer(const PipeServer&) = delete;
  PipeServer& operator=(const PipeServer&) = delete;
  ~PipeServer() = default;  // stops and joins

  /// Why it ended, if it failed.
  std::optional<Error> failure() const;

 private:
  Store& store_;
  const Dataset& dataset_;
  const pipe::WriterOptions options_;
  mutable Mutex mutex_;
  std::optional<Error> failure_ HEADRACE_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace headrace
