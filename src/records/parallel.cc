// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/parallel.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <vector>

#include "headrace/base/mutex.h"

namespace headrace {
namespace {

class Workers {
 public:
  using Work = std::function<Result<void>(std::size_t, const std::stop_token&)>;

  Workers(std::size_t count, const Work& work) : count_(count), work_(work) {}

  Result<void> run(unsigned threads, const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
    {
      std::vector<std::jthread> running;
      const auto needed = std::min(count_, static_cast<std::size_t>(threads));
      for (std::size_t i = 0; i < needed; ++i) running.emplace_back([this] { loop(); });
    }
    const MutexLock lock(mutex_);
    if (failure_) return *failure_;
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    return {};
  }

 private:
  std::optional<std::size_t> next() {
    const MutexLock lock(mutex_);
    if (next_ == count_ || stop_.stop_requested()) return std::nullopt;
    return next_++;
  }

  void loop() {
    while (const auto index = next()) {
      const auto done = work_(*index, stop_.get_token());
      if (done) continue;
      {
        const MutexLock lock(mutex_);
        if (!failure_) failure_ = done.error();
      }
      stop_.request_stop();
    }
  }

  const std::size_t count_;
  const Work& work_;
  std::stop_source stop_;
  Mutex mutex_;
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> failure_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<void> parallel_for(
    std::size_t count, unsigned threads, const std::stop_token& stop,
    const std::function<Result<void>(std::size_t index, const std::stop_token& stop)>& work) {
  return Workers(count, work).run(threads, stop);
}

}  // namespace headrace
