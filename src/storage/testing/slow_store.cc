// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/testing/slow_store.h"

#include "headrace/storage/ranges.h"

namespace headrace::testing {

SlowStore::SlowStore(Store& below, Clock& clock, Delay delay)
    : below_(below), clock_(clock), delay_(std::move(delay)) {
  thread_ = std::jthread([this](const std::stop_token& stop) { deliver(stop); });
}

SlowStore::~SlowStore() {
  thread_.request_stop();
  thread_.join();
  for (auto& [when, late] : late_) {
    late.done(
        Error(Code::cancelled, "stopped").at(object_place(below_.describe(), late.request.key)));
  }
}

Result<void> SlowStore::wait(const std::string& key, const std::stop_token& stop) {
  if (clock_.sleep_for(delay_(key, 0), stop)) return {};
  return Error(Code::cancelled, "stopped").at(object_place(below_.describe(), key));
}

Result<ObjectInfo> SlowStore::head(const std::string& key, const std::stop_token& stop) {
  HEADRACE_TRY(wait(key, stop));
  return below_.head(key, stop);
}

Result<void> SlowStore::list(const ListRequest& request, const std::stop_token& stop,
                             const std::function<Result<bool>(ListPage&&)>& sink) {
  HEADRACE_TRY(wait(request.prefix, stop));
  return below_.list(request, stop, sink);
}

void SlowStore::read(ReadRequest request, ReadDone done) {
  std::stop_source nap(std::nostopstate);
  {
    const MutexLock lock(mutex_);
    const Nanos due = clock_.now() + delay_(request.key, reads_++);
    if (late_.empty() || due < late_.begin()->first) nap = nap_;
    late_.emplace(due, Late{std::move(request), std::move(done)});
    arrived_.notify_one();
  }
  nap.request_stop();  // NOLINT(clang-analyzer-cplusplus.Move): it was copied
}

void SlowStore::deliver(const std::stop_token& stop) {
  for (;;) {
    Nanos due{};
    std::stop_source nap;
    {
      MutexLock lock(mutex_);
      while (late_.empty()) {
        if (!lock.wait(arrived_, stop)) return;
      }
      due = late_.begin()->first;
      nap_ = nap;
    }
    {
      const std::stop_callback wake(stop, [&nap] { nap.request_stop(); });
      if (!clock_.sleep_until(due, nap.get_token())) {
        if (stop.stop_requested()) return;
        continue;
      }
    }
    Late late;
    {
      const MutexLock lock(mutex_);
      late = std::move(late_.begin()->second);
      late_.erase(late_.begin());
    }
    below_.read(std::move(late.request), std::move(late.done));
  }
}

Result<std::unique_ptr<ObjectWriter>> SlowStore::create(const std::string& key,
                                                        const std::stop_token& stop) {
  HEADRACE_TRY(wait(key, stop));
  return below_.create(key, stop);
}

Result<void> SlowStore::remove(const std::string& key, const std::stop_token& stop) {
  HEADRACE_TRY(wait(key, stop));
  return below_.remove(key, stop);
}

}  // namespace headrace::testing
