// SPDX-License-Identifier: Apache-2.0
/// \file The thread that brings kept seek indexes into memory when a job begins, and keeps new ones
/// at the end of each epoch, while the next one is on its way.
///
/// Used by the loader's consumer.
#pragma once

#include <thread>
#include <utility>

#include "headrace/base/context.h"
#include "headrace/base/mutex.h"
#include "headrace/loader/seek_memory.h"
#include "headrace/loader/seek_shelf.h"

namespace headrace {

class SeekLibrarian {
 public:
  /// Begins to load at once. The memory must outlive it.
  SeekLibrarian(SeekShelf shelf, SeekMemory& memory, Context context)
      : shelf_(std::move(shelf)), memory_(memory), context_(std::move(context)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  }
  SeekLibrarian(const SeekLibrarian&) = delete;
  SeekLibrarian& operator=(const SeekLibrarian&) = delete;
  ~SeekLibrarian() { end(End::now); }

  /// Keeps what is new, soon.
  void save() {
    const MutexLock lock(mutex_);
    asked_ = true;
    changed_.notify_all();
  }
  /// `saved`: waits for that if it was asked for.
  enum class End { now, saved };
  void end(End how) {
    if (how == End::saved) {
      MutexLock lock(mutex_);
      while (asked_) lock.wait(changed_);
    }
    thread_ = {};
  }

 private:
  void run(const std::stop_token& stop) {
    shelf_.load(memory_, stop);
    while (true) {
      {
        MutexLock lock(mutex_);
        while (!asked_)
          if (!lock.wait(changed_, stop)) return;
      }
      if (const auto saved = shelf_.save(memory_, stop);
          !saved && saved.error().code() != Code::cancelled)
        context_.notices->add("seek-shelf", saved.error().to_string());
      const MutexLock lock(mutex_);
      asked_ = false;
      changed_.notify_all();
    }
  }

  SeekShelf shelf_;
  SeekMemory& memory_;
  const Context context_;
  Mutex mutex_;
  Condition changed_;
  bool asked_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::jthread thread_;
};

}  // namespace headrace
