// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/watched_disk.h"

#include <utility>

namespace headrace::keep {

bool DiskWatch::is_stuck(Nanos since) const {
  const MutexLock lock(mutex_);
  return !under_way_.empty() && under_way_.begin()->second < since;
}

std::optional<std::uint64_t> DiskWatch::oldest() const {
  const MutexLock lock(mutex_);
  if (under_way_.empty()) return std::nullopt;
  return under_way_.begin()->first;
}

void DiskWatch::shut() {
  const MutexLock lock(mutex_);
  shut_ = true;
}

Result<std::uint64_t> DiskWatch::begin() {
  const MutexLock lock(mutex_);
  if (shut_) return Error(Code::cancelled, "the cache was closed");
  under_way_.emplace_hint(under_way_.end(), ++calls_, clock_.now());
  return calls_;
}

void DiskWatch::end(std::uint64_t call) {
  const MutexLock lock(mutex_);
  under_way_.erase(call);
}

namespace {

/// One call, for as long as it lives.
template <class Function>
auto watched(DiskWatch& watch, Function&& call) -> decltype(call()) {
  HEADRACE_TRY(const std::uint64_t number, watch.begin());
  auto result = std::forward<Function>(call)();
  watch.end(number);
  return result;
}

class WatchedFile final : public DiskFile {
 public:
  WatchedFile(std::unique_ptr<DiskFile> file, std::shared_ptr<DiskWatch> watch)
      : file_(std::move(file)), watch_(std::move(watch)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    return watched(*watch_, [&] { return file_->read_at(offset, into); });
  }
  // Never waits: not worth a look at the clock.
  Result<std::size_t> read_at_hand(std::uint64_t offset, std::span<std::byte> into) override {
    return file_->read_at_hand(offset, into);
  }
  Result<void> write_at(std::uint64_t offset, ByteSpan bytes) override {
    return watched(*watch_, [&] { return file_->write_at(offset, bytes); });
  }
  Result<bool> try_lock(LockByte byte, LockKind kind) override {
    return watched(*watch_, [&] { return file_->try_lock(byte, kind); });
  }
  Result<void> unlock(LockByte byte) override {
    return watched(*watch_, [&] { return file_->unlock(byte); });
  }
  Result<bool> is_locked(LockByte byte) override {
    return watched(*watch_, [&] { return file_->is_locked(byte); });
  }
  Result<bool> is_linked() override {
    return watched(*watch_, [&] { return file_->is_linked(); });
  }

 private:
  const std::unique_ptr<DiskFile> file_;
  const std::shared_ptr<DiskWatch> watch_;
};

class WatchedDisk final : public Disk {
 public:
  WatchedDisk(std::unique_ptr<Disk> disk, std::shared_ptr<DiskWatch> watch)
      : disk_(std::move(disk)), watch_(std::move(watch)) {}

  std::string describe() const override { return disk_->describe(); }
  Result<std::vector<DiskEntry>> list() override {
    return watched(*watch_, [&] { return disk_->list(); });
  }
  Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) override {
    HEADRACE_TRY(auto file, watched(*watch_, [&] { return disk_->open(name, mode); }));
    return std::unique_ptr<DiskFile>(std::make_unique<WatchedFile>(std::move(file), watch_));
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return watched(*watch_, [&] { return disk_->rename(from, to); });
  }
  Result<void> remove(const std::string& name) override {
    return watched(*watch_, [&] { return disk_->remove(name); });
  }
  Result<void> touch(const std::string& name) override {
    return watched(*watch_, [&] { return disk_->touch(name); });
  }
  Result<DiskSpace> space() override {
    return watched(*watch_, [&] { return disk_->space(); });
  }

 private:
  const std::unique_ptr<Disk> disk_;
  const std::shared_ptr<DiskWatch> watch_;
};

}  // namespace

std::unique_ptr<Disk> watch_disk(std::unique_ptr<Disk> disk, std::shared_ptr<DiskWatch> watch) {
  return std::make_unique<WatchedDisk>(std::move(disk), std::move(watch));
}

}  // namespace headrace::keep
