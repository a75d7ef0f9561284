// SPDX-License-Identifier: Apache-2.0
/// \file Threads that answer a store's reads one after the other, each by a call that blocks: for
/// stores whose medium has no other way. In the order in which they were asked for.
///
/// Thread-safe. The last member of the store that owns it, since its threads use the others.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/store.h"

namespace headrace {

class ReadPool {
 public:
  /// `ending`: the store goes, so that the read need not be finished. Errors get their place here.
  using Answer =
      std::function<Result<ReadResult>(const ReadRequest&, const std::stop_token& ending)>;

  /// `name`: Store::describe. At least one thread.
  ReadPool(std::string name, unsigned threads, Answer answer);
  ReadPool(const ReadPool&) = delete;
  ReadPool& operator=(const ReadPool&) = delete;
  /// Reads that were not begun complete as `cancelled`.
  ~ReadPool();

  void push(ReadRequest request, ReadDone done);

 private:
  struct Job {
    ReadRequest request;
    ReadDone done;
  };
  void serve(const std::stop_token& stop);
  /// True: whoever asked notifies one, once the lock is given up. One at a time is woken, and wakes
  /// the next: as many work as reads take long, and what comes from memory wakes few.
  bool wake_another() HEADRACE_REQUIRES(mutex_);

  const std::string name_;
  const Answer answer_;
  Mutex mutex_;
  Condition arrived_;
  std::deque<Job> queue_ HEADRACE_GUARDED_BY(mutex_);
  unsigned idle_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool waking_ HEADRACE_GUARDED_BY(mutex_) = false;  // one is on its way
  std::vector<std::jthread> threads_;
};

}  // namespace headrace
