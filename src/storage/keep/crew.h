// SPDX-License-Identifier: Apache-2.0
/// \file Threads that can be left behind, since the call that one of them is in may never return.
///
/// Used by the thread that owns it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"

namespace headrace::keep {

class Crew {
 public:
  /// `owner` holds all that `work` touches, and lives until it returns.
  void add(std::shared_ptr<void> owner, std::function<void()> work) {
    {
      const MutexLock lock(state_->mutex);
      ++state_->running;
    }
    threads_.emplace_back(
        [state = state_, owner = std::move(owner), work = std::move(work)]() mutable {
          work();
          work = nullptr;
          owner.reset();  // the last one there ends it, before it counts as ended
          const MutexLock lock(state->mutex);
          --state->running;
          state->ended.notify_all();
        });
  }

  /// Waits until all have returned, and asks every `pause` whether that is hopeless: then they are
  /// left behind, and it is false.
  bool join_or_leave(std::chrono::milliseconds pause, const std::function<bool()>& hopeless) {
    bool all = false;
    while (!all) {
      {
        const auto until = std::chrono::steady_clock::now() + pause;
        MutexLock lock(state_->mutex);
        while (state_->running != 0 && lock.wait_until(state_->ended, until)) {
        }
        all = state_->running == 0;
      }
      if (!all && hopeless()) break;
    }
    for (std::thread& thread : threads_) {
      if (all) {
        thread.join();
      } else {
        thread.detach();
      }
    }
    threads_.clear();
    return all;
  }

 private:
  struct State {
    Mutex mutex;
    Condition ended;
    int running HEADRACE_GUARDED_BY(mutex) = 0;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  std::vector<std::thread> threads_;
};

}  // namespace headrace::keep
