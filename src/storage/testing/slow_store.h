// SPDX-License-Identifier: Apache-2.0
/// \file A Store whose answers come late, by a clock that a test may move.
///
/// Thread-safe. Reads wait in a queue of their own, so hundreds may be late at once; `head`,
/// `list`, `create` and `remove` hold their caller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "headrace/base/clock.h"
#include "headrace/base/mutex.h"
#include "headrace/storage/store.h"

namespace headrace::testing {

class SlowStore final : public Store {
 public:
  /// How late an answer for this key is; `number` counts the reads.
  using Delay = std::function<Nanos(const std::string& key, std::uint64_t number)>;

  /// `below` and `clock` outlive this.
  SlowStore(Store& below, Clock& clock, Delay delay);
  SlowStore(Store& below, Clock& clock, Nanos always)
      : SlowStore(below, clock, [always](const std::string&, std::uint64_t) { return always; }) {}
  SlowStore(const SlowStore&) = delete;
  SlowStore& operator=(const SlowStore&) = delete;
  ~SlowStore() override;

  std::string describe() const override { return below_.describe(); }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override;
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override;
  void read(ReadRequest request, ReadDone done) override;
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override;
  Result<void> remove(const std::string& key, const std::stop_token& stop) override;
  void hint(std::span<const Wanted> wanted) override { below_.hint(wanted); }

 private:
  struct Late {
    ReadRequest request;
    ReadDone done;
  };

  Result<void> wait(const std::string& key, const std::stop_token& stop);
  void deliver(const std::stop_token& stop);

  Store& below_;
  Clock& clock_;
  const Delay delay_;
  Mutex mutex_;
  Condition arrived_;
  std::multimap<Nanos, Late> late_ HEADRACE_GUARDED_BY(mutex_);  // by the time they are due
  std::uint64_t reads_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::stop_source nap_ HEADRACE_GUARDED_BY(mutex_);  // ends the sleep for what was first
  std::jthread thread_;
};

}  // namespace headrace::testing
