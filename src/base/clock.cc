// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/clock.h"

namespace headrace {
namespace {

class RealClock final : public Clock {
 public:
  Nanos now() const override {
    return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
  }
  bool sleep_until(Nanos when, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    const std::chrono::steady_clock::time_point until(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(when));
    never.wait_until(lock, stop, until, [] { return false; });
    return !stop.stop_requested();
  }
  std::int64_t wall_seconds() const override {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
};

}  // namespace

Clock& real_clock() {
  static auto* const clock = new RealClock;  // never destroyed: threads may outlive main
  return *clock;
}

Nanos ManualClock::now() const {
  const MutexLock lock(mutex_);
  return now_;
}

bool ManualClock::sleep_until(Nanos when, const std::stop_token& stop) {
  MutexLock lock(mutex_);
  const auto mine = wakes_.insert(when);
  bool awake = true;
  while (now_ < when && awake) awake = lock.wait(moved_, stop);
  wakes_.erase(mine);
  return awake;
}

std::int64_t ManualClock::wall_seconds() const {
  constexpr std::int64_t start = 1'800'000'000;
  return start + std::chrono::duration_cast<std::chrono::seconds>(now()).count();
}

void ManualClock::advance(Nanos by) {
  const MutexLock lock(mutex_);
  now_ += by;
  moved_.notify_all();
}

int ManualClock::sleepers() const {
  const MutexLock lock(mutex_);
  return static_cast<int>(wakes_.size());
}

Nanos ManualClock::next_wake() const {
  const MutexLock lock(mutex_);
  return wakes_.empty() ? Nanos::max() : *wakes_.begin();
}

}  // namespace headrace
