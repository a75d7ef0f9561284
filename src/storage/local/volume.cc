// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/volume.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <thread>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/quota.h"

namespace headrace::local {
namespace {

/// In a child, which must call nothing that takes a lock. It holds nothing of ours but `fd`: who
/// reads our output sees its end with us, and our locks end with us.
[[noreturn]] void sync_as_a_child(int fd) {
  if (fd > 0 && ::close_range(0, static_cast<unsigned>(fd) - 1, 0) != 0) ::_exit(errno);
  if (::close_range(static_cast<unsigned>(fd) + 1, ~0U, 0) != 0) ::_exit(errno);
  ::_exit(::syncfs(fd) == 0 ? 0 : errno);
}

/// Nothing: no child could do it.
std::optional<Result<void>> sync_by_a_child(int fd, const std::stop_token& stop) {
  const pid_t child = ::fork();
  if (child == 0) sync_as_a_child(fd);
  if (child < 0) return std::nullopt;
  for (;;) {
    int status = 0;
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended < 0 && errno == EINTR) continue;
    if (ended < 0) return std::nullopt;
    if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) == 0) return Result<void>();
    if (ended == child && WIFEXITED(status) && WEXITSTATUS(status) != ENOSYS)
      return errno_error(WEXITSTATUS(status), "syncfs");
    if (ended == child) return std::nullopt;
    if (stop.stop_requested()) {
      // It goes when its disk lets it; this thread holds nobody up, since it can be killed.
      std::thread([child] { ::waitpid(child, nullptr, 0); }).detach();
      return Error(Code::cancelled, "stopped while the volume writes");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Result<Volume> volume_of(const std::string& wanted) {
  std::error_code unknown;
  auto there = std::filesystem::absolute(wanted, unknown);
  while (!unknown && there.has_relative_path() && !std::filesystem::exists(there, unknown))
    there = there.parent_path();
  const std::string folder = there.string();
  struct statvfs space {};
  struct stat here {};
  if (::statvfs(folder.c_str(), &space) != 0 || ::stat(folder.c_str(), &here) != 0) {
    return errno_error(errno, "ask for free space").at(folder);
  }
  const UniqueFd opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::error_code error;
  std::filesystem::path top = std::filesystem::canonical(folder, error);
  struct stat above {};
  while (!error && top.has_relative_path() && ::stat(top.parent_path().c_str(), &above) == 0 &&
         above.st_dev == here.st_dev) {
    top = top.parent_path();
  }
  Volume volume{.mounted_at = top.string(),
                .free_bytes = writable_bytes(space, opened.get()),
                .block_bytes = std::max<std::uint64_t>(space.f_frsize, 1)};
  if (space.f_files != 0) volume.free_files = space.f_favail;  // else it does not count them
  return volume;
}

Result<void> check_space(const Volume& volume, const Need& need, const std::string& remedy) {
  std::string lack;
  if (need.bytes > volume.free_bytes) {
    lack = fmt::format("{} bytes free, the files need {}", volume.free_bytes, need.bytes);
  } else if (need.files > volume.free_files) {
    lack = fmt::format("room for {} more files, {} are needed", volume.free_files, need.files);
  }
  if (lack.empty()) return {};
  return Error(Code::exhausted, fmt::format("the volume at {} has {}", volume.mounted_at, lack),
               remedy)
      .at(volume.mounted_at);
}

Result<void> sync_volume(int fd, const std::stop_token& stop) {
  if (auto done = sync_by_a_child(fd, stop)) return *std::move(done);
  if (::syncfs(fd) != 0) return errno_error(errno, "syncfs");
  return {};
}

}  // namespace headrace::local
