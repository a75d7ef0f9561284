// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/late_disk.h"

#include <optional>
#include <thread>
#include <utility>

#include "headrace/base/mutex.h"

namespace headrace::keep {
namespace {

constexpr std::chrono::milliseconds kSlice{50};  ///< between looks at the stop

struct Opening {
  Mutex mutex;
  Condition opened;
  std::optional<Result<LocalDisk>> disk HEADRACE_GUARDED_BY(mutex);
};

/// Moves into the real disk once it is there.
class LateDisk final : public Disk {
 public:
  LateDisk(std::string dir, std::shared_ptr<Opening> opening)
      : dir_(std::move(dir)), opening_(std::move(opening)) {}

  std::string describe() const override { return dir_; }
  Result<std::vector<DiskEntry>> list() override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->list();
  }
  Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->open(name, mode);
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->rename(from, to);
  }
  Result<void> remove(const std::string& name) override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->remove(name);
  }
  Result<void> touch(const std::string& name) override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->touch(name);
  }
  Result<DiskSpace> space() override {
    HEADRACE_TRY(Disk* const disk, real());
    return disk->space();
  }

 private:
  Result<Disk*> real() {
    const MutexLock lock(opening_->mutex);
    if (!opening_->disk)
      return Error(Code::unavailable, "the cache directory could not be opened yet").at(dir_);
    if (!*opening_->disk) return Error(opening_->disk->error());
    return (*opening_->disk)->disk.get();
  }

  const std::string dir_;
  const std::shared_ptr<Opening> opening_;
};

}  // namespace

Result<LocalDisk> open_local_disk_within(const std::string& dir, std::chrono::nanoseconds patience,
                                         const std::stop_token& stop) {
  const auto opening = std::make_shared<Opening>();
  std::thread([opening, dir] {
    auto disk = open_local_disk(dir);
    const MutexLock lock(opening->mutex);
    opening->disk.emplace(std::move(disk));
    opening->opened.notify_all();
  }).detach();  // it may never return
  const auto until = std::chrono::steady_clock::now() + patience;
  MutexLock lock(opening->mutex);
  while (!opening->disk && !stop.stop_requested() && std::chrono::steady_clock::now() < until) {
    std::ignore = lock.wait_until(opening->opened, std::chrono::steady_clock::now() + kSlice);
  }
  if (opening->disk) return *std::move(opening->disk);
  return LocalDisk{std::make_unique<LateDisk>(dir, opening), false};
}

}  // namespace headrace::keep
