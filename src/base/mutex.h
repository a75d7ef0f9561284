// SPDX-License-Identifier: Apache-2.0
/// \file A mutex that clang's thread-safety analysis understands, and its lock.
///
/// libstdc++'s own carries no annotations. Members are marked `HEADRACE_GUARDED_BY(mutex_)`;
/// a wait is written as a loop in the function that holds the lock, since the analysis does not
/// see into predicates:
///
///     MutexLock lock(mutex_);
///     while (queue_.empty()) if (!lock.wait(changed_, stop)) return cancelled;
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <utility>

#if defined(__clang__)
#define HEADRACE_THREAD(x) __attribute__((x))
#else
#define HEADRACE_THREAD(x)
#endif
#define HEADRACE_GUARDED_BY(m) HEADRACE_THREAD(guarded_by(m))
#define HEADRACE_REQUIRES(m) HEADRACE_THREAD(requires_capability(m))

namespace headrace {

class HEADRACE_THREAD(capability("mutex")) Mutex {
 public:
  void lock() HEADRACE_THREAD(acquire_capability()) { mutex_.lock(); }
  void unlock() HEADRACE_THREAD(release_capability()) { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

using Condition = std::condition_variable_any;

class HEADRACE_THREAD(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mutex) HEADRACE_THREAD(acquire_capability(mutex)) : mutex_(mutex) {
    mutex_.lock();
  }
  ~MutexLock() HEADRACE_THREAD(release_capability()) {
    if (held_) mutex_.unlock();
  }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;
  MutexLock(MutexLock&&) = delete;
  MutexLock& operator=(MutexLock&&) = delete;

  /// Gives the lock up before the end of the scope, to call others without it.
  void unlock() HEADRACE_THREAD(release_capability()) {
    held_ = false;
    mutex_.unlock();
  }

  /// Waits for a notification (or a spurious one: callers loop). False once stop is asked for.
  bool wait(Condition& condition, const std::stop_token& stop) {
    Unchecked unchecked{mutex_};
    bool woken = false;  // false once, so that the wait happens; then whatever woke us will do
    condition.wait(unchecked, stop, [&woken] { return std::exchange(woken, true); });
    return !stop.stop_requested();
  }
  void wait(Condition& condition) {
    Unchecked unchecked{mutex_};
    condition.wait(unchecked);
  }
  /// False when the time is over.
  template <class Clock, class Duration>
  bool wait_until(Condition& condition, const std::chrono::time_point<Clock, Duration>& when) {
    Unchecked unchecked{mutex_};
    return condition.wait_until(unchecked, when) == std::cv_status::no_timeout;
  }

 private:
  struct Unchecked {  // hides lock and unlock inside wait from the analysis
    Mutex& mutex;
    void lock() HEADRACE_THREAD(no_thread_safety_analysis) { mutex.lock(); }
    void unlock() HEADRACE_THREAD(no_thread_safety_analysis) { mutex.unlock(); }
  };

  Mutex& mutex_;
  bool held_ = true;
};

}  // namespace headrace
