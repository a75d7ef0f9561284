// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/shaped_disk.h"

#include <cmath>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/storage/shaped/rate.h"

namespace headrace::keep {
namespace {

/// What all files of a disk share.
class Pace {
 public:
  Pace(Medium medium, Clock& clock, std::uint64_t seed)
      : medium_(std::move(medium)), clock_(clock), reads_(medium_, seed) {}

  /// Takes as long as a read of so many bytes.
  void wait_for(std::size_t bytes) {
    const auto size = static_cast<double>(bytes);
    sleep_until(first_byte(size));
    sleep_until(last_byte(size));
  }

 private:
  double now() const { return static_cast<double>(clock_.now().count()); }
  void sleep_until(double at) const { clock_.sleep_until(Nanos(std::llround(at)), {}); }

  double first_byte(double bytes) {
    const MutexLock lock(mutex_);
    return reads_.start(now(), reads_.requests_of(bytes)).first_byte;
  }
  double last_byte(double bytes) {
    const MutexLock lock(mutex_);
    return reads_.last_byte(now(), bytes);
  }

  const Medium medium_;
  Clock& clock_;
  Mutex mutex_;
  ReadPace reads_ HEADRACE_GUARDED_BY(mutex_);
};

class ShapedFile final : public DiskFile {
 public:
  ShapedFile(std::unique_ptr<DiskFile> file, std::shared_ptr<Pace> pace)
      : file_(std::move(file)), pace_(std::move(pace)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    pace_->wait_for(into.size());
    return file_->read_at(offset, into);
  }
  Result<std::size_t> read_at_hand(std::uint64_t /*offset*/,
                                   std::span<std::byte> /*into*/) override {
    return 0;
  }
  Result<void> write_at(std::uint64_t offset, ByteSpan bytes) override {
    return file_->write_at(offset, bytes);
  }
  Result<bool> try_lock(LockByte byte, LockKind kind) override {
    return file_->try_lock(byte, kind);
  }
  Result<void> unlock(LockByte byte) override { return file_->unlock(byte); }
  Result<bool> is_locked(LockByte byte) override { return file_->is_locked(byte); }
  Result<bool> is_linked() override { return file_->is_linked(); }

 private:
  const std::unique_ptr<DiskFile> file_;
  const std::shared_ptr<Pace> pace_;
};

class ShapedDisk final : public Disk {
 public:
  ShapedDisk(std::unique_ptr<Disk> disk, std::shared_ptr<Pace> pace)
      : disk_(std::move(disk)), pace_(std::move(pace)) {}

  std::string describe() const override { return disk_->describe(); }
  Result<std::vector<DiskEntry>> list() override { return disk_->list(); }
  Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) override {
    HEADRACE_TRY(auto file, disk_->open(name, mode));
    return std::unique_ptr<DiskFile>(std::make_unique<ShapedFile>(std::move(file), pace_));
  }
  Result<void> rename(const std::string& from, const std::string& to) override {
    return disk_->rename(from, to);
  }
  Result<void> remove(const std::string& name) override { return disk_->remove(name); }
  Result<void> touch(const std::string& name) override { return disk_->touch(name); }
  Result<DiskSpace> space() override { return disk_->space(); }

 private:
  const std::unique_ptr<Disk> disk_;
  const std::shared_ptr<Pace> pace_;
};

}  // namespace

std::unique_ptr<Disk> shape_disk(std::unique_ptr<Disk> disk, const Medium& medium, Clock& clock,
                                 std::uint64_t seed) {
  return std::make_unique<ShapedDisk>(std::move(disk), std::make_shared<Pace>(medium, clock, seed));
}

}  // namespace headrace::keep
