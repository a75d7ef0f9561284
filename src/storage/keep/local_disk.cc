// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/local_disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "headrace/base/unique_fd.h"
#include "headrace/base/write_all.h"
#include "headrace/storage/local/quota.h"
#include "headrace/storage/object_time.h"

namespace headrace::keep {
namespace {

constexpr std::string_view kVersionFolder = "v1";

class LocalFile final : public DiskFile {
 public:
  explicit LocalFile(UniqueFd fd) : fd_(std::move(fd)) {}

  Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const auto got = ::pread(fd_.get(), into.data() + done, into.size() - done,
                               static_cast<off_t>(offset + done));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return errno_error(errno, "read");
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  Result<std::size_t> read_at_hand(std::uint64_t offset, std::span<std::byte> into) override {
    iovec piece{.iov_base = into.data(), .iov_len = into.size()};
    const auto got = ::preadv2(fd_.get(), &piece, 1, static_cast<off_t>(offset), RWF_NOWAIT);
    // EAGAIN: not in memory; EOPNOTSUPP: a file system that cannot tell. Errors show when waiting.
    return got < 0 ? std::size_t{0} : static_cast<std::size_t>(got);
  }

  Result<void> write_at(std::uint64_t offset, ByteSpan bytes) override {
    const int failed = write_all_at(fd_.get(), bytes, offset);
    return failed == 0 ? Result<void>() : errno_error(failed, "write");
  }

  Result<bool> try_lock(LockByte byte, LockKind kind) override {
    auto lock = request(byte, kind == LockKind::shared ? F_RDLCK : F_WRLCK);
    if (::fcntl(fd_.get(), F_OFD_SETLK, &lock) == 0) return true;
    if (errno == EAGAIN || errno == EACCES) return false;
    return errno_error(errno, "lock");
  }

  Result<void> unlock(LockByte byte) override {
    auto lock = request(byte, F_UNLCK);
    if (::fcntl(fd_.get(), F_OFD_SETLK, &lock) != 0) return errno_error(errno, "unlock");
    return {};
  }

  Result<bool> is_locked(LockByte byte) override {
    auto lock = request(byte, F_WRLCK);
    if (::fcntl(fd_.get(), F_OFD_GETLK, &lock) != 0) return errno_error(errno, "look at a lock");
    return lock.l_type != F_UNLCK;
  }

  Result<bool> is_linked() override {
    struct stat status {};
    if (::fstat(fd_.get(), &status) != 0) return errno_error(errno, "stat");
    return status.st_nlink > 0;
  }

 private:
  static struct flock request(LockByte byte, int type) {
    struct flock lock {};
    lock.l_type = static_cast<short>(type);
    lock.l_whence = SEEK_SET;
    lock.l_start = static_cast<off_t>(byte);
    lock.l_len = 1;
    return lock;
  }

  const UniqueFd fd_;
};

class LocalDirectory final : public Disk {
 public:
  LocalDirectory(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string describe() const override { return path_; }

  Result<std::vector<DiskEntry>> list() override {
    // A handle of its own, since reading a directory moves the position of the handle.
    UniqueFd fd(::openat(fd_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid()) return failed("open", "");
    DIR* dir = ::fdopendir(fd.get());
    if (dir == nullptr) return failed("open", "");
    std::ignore = fd.release();
    std::vector<DiskEntry> entries;
    errno = 0;
    while (const dirent* found = ::readdir(dir)) {  // NOLINT(concurrency-mt-unsafe): its own DIR
      const std::string name = static_cast<const char*>(found->d_name);
      struct stat status {};
      // One that is gone since is none.
      if (::fstatat(fd_.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) continue;
      if (!S_ISREG(status.st_mode)) continue;
      constexpr std::uint64_t kBlock = 512;
      entries.push_back(
          {.name = name,
           .bytes = std::max(static_cast<std::uint64_t>(status.st_blocks) * kBlock,
                             static_cast<std::uint64_t>(status.st_size)),
           .modified_ns = object_time(status.st_mtim.tv_sec, status.st_mtim.tv_nsec)});
      errno = 0;
    }
    const int error = errno;
    ::closedir(dir);
    if (error != 0) return errno_error(error, "list").at(path_);
    return entries;
  }

  Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) override {
    int flags = O_CLOEXEC | O_NOFOLLOW;
    flags |= mode == OpenMode::read ? O_RDONLY : O_RDWR;
    if (mode == OpenMode::create) flags |= O_CREAT | O_EXCL;
    if (mode == OpenMode::share) flags |= O_CREAT;
    UniqueFd fd(::openat(fd_.get(), name.c_str(), flags, 0600));
    if (!fd.valid()) return failed("open", name);
    return std::unique_ptr<DiskFile>(std::make_unique<LocalFile>(std::move(fd)));
  }

  Result<void> rename(const std::string& from, const std::string& to) override {
    if (::renameat(fd_.get(), from.c_str(), fd_.get(), to.c_str()) != 0)
      return failed("rename", from);
    return {};
  }

  Result<void> remove(const std::string& name) override {
    if (::unlinkat(fd_.get(), name.c_str(), 0) != 0) return failed("remove", name);
    return {};
  }

  Result<void> touch(const std::string& name) override {
    if (::utimensat(fd_.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0)
      return failed("touch", name);
    return {};
  }

  Result<DiskSpace> space() override {
    struct statvfs status {};
    if (::fstatvfs(fd_.get(), &status) != 0) return failed("statvfs", "");
    return DiskSpace{.total = status.f_blocks * status.f_frsize,
                     .available = local::writable_bytes(status, fd_.get())};
  }

 private:
  Error failed(std::string_view doing, const std::string& name) const {
    return errno_error(errno, doing).at(name.empty() ? path_ : path_ + "/" + name);
  }

  const std::string path_;
  const UniqueFd fd_;
};

constexpr long kTmpfs = 0x01021994;
constexpr long kRamfs = 0x858458f6;

Result<void> make_private(const std::string& path) {
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return errno_error(errno, "make the cache directory")
        .at(path)
        .advise(
            "name a folder that can be written by --keep-dir or HEADRACE_KEEP_DIR, or take mode "
            "stream");
  return {};
}

}  // namespace

bool is_network_file_system(long type) {
  // statfs(2); EFS is NFS, FSx is Lustre or SMB.
  constexpr std::array<std::uint32_t, 7> kKinds{
      0x6969,      // NFS
      0xfe534d42,  // SMB 2
      0xff534d42,  // CIFS
      0x0bd00bd0,  // Lustre
      0x00c36400,  // Ceph
      0x47504653,  // GPFS
      0x5346414f,  // AFS
  };
  return std::ranges::find(kKinds, static_cast<std::uint32_t>(type)) != kKinds.end();
}

Result<LocalDisk> open_local_disk(const std::string& dir, bool make) {
  if (dir.empty()) return Error(Code::invalid, "no cache directory", "give --keep-dir");
  if (make) HEADRACE_TRY(make_private(dir));
  const UniqueFd root(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return errno_error(errno, "open the cache directory").at(dir);
  struct stat status {};
  if (::fstat(root.get(), &status) != 0) return errno_error(errno, "stat").at(dir);
  if (status.st_uid != ::geteuid()) {
    return Error(Code::denied, fmt::format("belongs to user {}", status.st_uid),
                 "give each user a cache directory: --keep-dir")
        .at(dir);
  }
  if ((status.st_mode & 077U) != 0) {
    return Error(Code::denied, fmt::format("open to others (mode {:o})", status.st_mode & 0777U),
                 fmt::format("chmod 700 {}", dir))
        .at(dir);
  }
  struct statfs kind {};
  if (::fstatfs(root.get(), &kind) != 0) return errno_error(errno, "statfs").at(dir);
  if (is_network_file_system(kind.f_type)) {
    return Error(Code::invalid, "a network file system: a cache there would not be faster",
                 "point --keep-dir at a local disk of the node")
        .at(dir);
  }
  const std::string folder = fmt::format("{}/{}", dir, kVersionFolder);
  if (make && ::mkdirat(root.get(), std::string(kVersionFolder).c_str(), 0700) != 0 &&
      errno != EEXIST)
    return errno_error(errno, "make").at(folder);
  UniqueFd fd(::openat(root.get(), std::string(kVersionFolder).c_str(),
                       O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd.valid()) return errno_error(errno, "open").at(folder);
  return LocalDisk{std::make_unique<LocalDirectory>(folder, std::move(fd)),
                   kind.f_type == kTmpfs || static_cast<std::uint32_t>(kind.f_type) ==
                                                static_cast<std::uint32_t>(kRamfs)};
}

}  // namespace headrace::keep
