// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/shaped_disk.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/storage/shaped/rate.h"

namespace headrace::keep {
namespace {

constexpr double kNanosPerMs = 1e6;
constexpr double kBytesPerMB = 1e6;
constexpr double kKiB = 1024;

/// What all files of a disk share.
class Pace {
 public:
  Pace(const Medium& medium, Clock& clock, std::uint64_t seed)
      : medium_(medium),
        clock_(clock),
        seed_(seed),
        requests_(medium.requests_per_second, medium.request_credits),
        bytes_(medium.rate_total_MBps * kBytesPerMB, in_bytes(medium.throughput_credits)) {}

  /// Takes as long as a read of so many bytes.
  void wait_for(std::size_t bytes) {
    const double first = first_byte(static_cast<double>(bytes));
    sleep_until(first);
    sleep_until(last_byte(static_cast<double>(bytes)));
  }

 private:
  static Credits in_bytes(Credits credits) {
    for (double* part : {&credits.baseline, &credits.burst, &credits.start, &credits.cap})
      *part *= kBytesPerMB;
    return credits;
  }
  double now() const { return static_cast<double>(clock_.now().count()); }
  void sleep_until(double at) const { clock_.sleep_until(Nanos(std::llround(at)), {}); }

  double first_byte(double bytes) {
    const double most = medium_.request_KiB * kKiB;
    const MutexLock lock(mutex_);
    const auto use = requests_.take(now(), most <= 0 ? 1 : std::max(1.0, std::ceil(bytes / most)));
    return use.begin + first_byte_ms(medium_, seed_, counter_++) * kNanosPerMs;
  }

  double last_byte(double bytes) {
    const MutexLock lock(mutex_);
    const double begin = now();
    double end = bytes_.take(begin, bytes).end;
    if (medium_.rate_per_connection_MBps > 0)
      end = std::max(end, begin + bytes * 1e9 / (medium_.rate_per_connection_MBps * kBytesPerMB));
    return end;
  }

  const Medium medium_;
  Clock& clock_;
  const std::uint64_t seed_;
  Mutex mutex_;
  SharedRate requests_ HEADRACE_GUARDED_BY(mutex_);
  SharedRate bytes_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t counter_ HEADRACE_GUARDED_BY(mutex_) = 0;
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
