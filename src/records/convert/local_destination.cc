// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/local_destination.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <tuple>

#include "headrace/base/human.h"
#include "headrace/storage/local/volume.h"

namespace headrace::converting {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFileMode = 0644;
constexpr off_t kShared = 0;  // the byte that parts share; a part's own is its number

/// False if another open file has a lock in the way; errno says so, or why there can be none.
bool lock_range(int fd, short type, off_t start, off_t length) {
  struct flock range {};
  range.l_type = type;
  range.l_whence = SEEK_SET;
  range.l_start = start;
  range.l_len = length;  // 0: to the end, wherever it is
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what fcntl is
  return ::fcntl(fd, F_OFD_SETLK, &range) == 0;
}

bool lock_as(int fd, std::uint64_t part) {
  if (part == 0) return lock_range(fd, F_WRLCK, kShared, 0);
  return lock_range(fd, F_RDLCK, kShared, 1) &&
         lock_range(fd, F_WRLCK, static_cast<off_t>(part), 1);
}

/// A file that was unlinked by the one who had it locks nobody out.
bool still_at(int fd, const std::string& path) {
  struct stat locked {};
  struct stat there {};
  return ::fstat(fd, &locked) == 0 && ::stat(path.c_str(), &there) == 0 &&
         locked.st_ino == there.st_ino && locked.st_dev == there.st_dev;
}

}  // namespace

Result<LocalDestination> LocalDestination::take(const std::string& folder, const std::string& key,
                                                std::uint64_t part) {
  LocalDestination destination(folder);
  constexpr int kAttempts = 100;  // others end, and take their file along
  const fs::path own = fs::path(folder) / ".headrace" / "convert";
  const std::string path = (own / (key + ".lock")).string();
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    destination.make_folder(own);
    HEADRACE_TRY(const bool settled, destination.try_lock(path, part));
    if (settled) break;
  }
  return destination;
}

void LocalDestination::make_folder(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> missing;
  for (fs::path at = folder; !at.empty() && !fs::exists(at, error); at = at.parent_path())
    missing.push_back(at);
  for (auto at = missing.rbegin(); at != missing.rend(); ++at) {
    if (!fs::create_directory(*at, error)) return;  // another's, or it is met again when written
    made_.push_back(*at);
  }
}

/// False: look again. True without a lock where there can be none.
Result<bool> LocalDestination::try_lock(const std::string& path, std::uint64_t part) {
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): that is what open is
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kFileMode));
  if (!fd.valid()) return errno != ENOENT;
  if (lock_as(fd.get(), part)) {
    if (!still_at(fd.get(), path)) return false;
    lock_ = std::move(fd);
    lock_path_ = path;
    return true;
  }
  if (errno != EAGAIN && errno != EACCES) return true;
  return Error(Code::invalid,
               part == 0 ? "another process is writing this set there"
                         : "another process is writing this set, or this part of it, there",
               "wait until it has ended, or take another name; after a kill nothing is in the way, "
               "and the same command goes on")
      .at(folder_);
}

LocalDestination::~LocalDestination() {
  // Only who has the whole file may take it away: else a part is still at work.
  if (lock_.valid() && lock_range(lock_.get(), F_WRLCK, kShared, 0)) {
    ::unlink(lock_path_.c_str());
    ::rmdir(fs::path(lock_path_).parent_path().c_str());
    ::rmdir(fs::path(lock_path_).parent_path().parent_path().c_str());
  }
  // What is not empty stays: rmdir refuses it.
  for (auto at = made_.rbegin(); at != made_.rend(); ++at) ::rmdir(at->c_str());
}

Error LocalDestination::explain(Error error, std::uint64_t bytes_needed) const {
  if (error.code() != Code::exhausted) return error;
  const auto volume = local::volume_of(folder_);
  if (!volume || error.place() == volume->mounted_at) return error;  // it says so already
  return Error(error.code(),
               fmt::format("{}; the volume at {} has {} free now, and the whole set needs about {}",
                           error.cause(), volume->mounted_at,
                           human_bytes(static_cast<double>(volume->free_bytes)),
                           human_bytes(static_cast<double>(bytes_needed))),
               error.remedy())
      .at(error.place());
}

}  // namespace headrace::converting
