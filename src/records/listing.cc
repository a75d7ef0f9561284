// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/listing.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "headrace/base/mutex.h"

namespace headrace {
namespace {

class Listers {
 public:
  Listers(Store& store, std::span<const std::string> folders, const ObjectSink& sink)
      : store_(store), folders_(folders), sink_(sink) {}

  Result<void> run(int listers, const std::stop_token& stop) {
    const std::stop_callback pass_on(stop, [this] { stop_.request_stop(); });
    {
      std::vector<std::jthread> threads;
      const auto count = std::min(folders_.size(), static_cast<std::size_t>(listers));
      for (std::size_t i = 0; i < count; ++i) threads.emplace_back([this] { work(); });
    }
    const MutexLock lock(mutex_);
    if (failure_) return *failure_;
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped while listing");
    return {};
  }

 private:
  std::optional<std::size_t> next() {
    const MutexLock lock(mutex_);
    if (next_ == folders_.size() || stop_.stop_requested()) return std::nullopt;
    return next_++;
  }

  void work() {
    while (const auto folder = next()) {
      const auto listed = store_.list({.prefix = folders_[*folder]}, stop_.get_token(),
                                      [this](ListPage&& page) -> Result<bool> {
                                        HEADRACE_TRY(sink_(page.objects));
                                        return !stop_.stop_requested();
                                      });
      if (!listed) fail(listed.error());
    }
  }

  void fail(const Error& error) {
    {
      const MutexLock lock(mutex_);
      if (!failure_) failure_ = error;
    }
    stop_.request_stop();
  }

  Store& store_;
  const std::span<const std::string> folders_;
  const ObjectSink& sink_;
  std::stop_source stop_;
  Mutex mutex_;
  std::size_t next_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::optional<Error> failure_ HEADRACE_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::vector<std::string>> find_folders(Store& store, const std::string& prefix,
                                              const std::stop_token& stop,
                                              const ObjectSink& beside) {
  std::vector<std::string> folders;
  const auto take = [&folders, &beside](ListPage&& page) -> Result<bool> {
    std::ranges::move(page.folders, std::back_inserter(folders));
    HEADRACE_TRY(beside(page.objects));
    return true;
  };
  HEADRACE_TRY(store.list({.prefix = prefix, .by_folder = true}, stop, take));
  std::ranges::sort(folders);
  const auto repeats =
      std::ranges::unique(folders);  // a folder may end one page and begin the next
  folders.erase(repeats.begin(), repeats.end());
  return folders;
}

Result<void> list_folders(Store& store, std::span<const std::string> folders, int listers,
                          const std::stop_token& stop, const ObjectSink& sink) {
  return Listers(store, folders, sink).run(listers, stop);
}

}  // namespace headrace
