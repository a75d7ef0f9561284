// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/cold.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "headrace/base/unique_fd.h"

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;

/// verified or warm by what mincore says of `length` bytes at `offset`; unverified if it cannot
/// say.
Cold resident(int fd, off_t offset, std::size_t length) {
  void* map = mmap(nullptr, length, PROT_READ, MAP_SHARED, fd, offset);
  if (map == MAP_FAILED) return Cold::unverified;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((length + page - 1) / page);
  const bool known = mincore(map, length, pages.data()) == 0;
  munmap(map, length);
  if (!known) return Cold::unverified;
  const bool any = std::any_of(pages.begin(), pages.end(), [](auto flags) { return flags & 1U; });
  return any ? Cold::warm : Cold::verified;
}

/// In windows, since mincore wants a byte for each page.
Cold resident(int fd, off_t size) {
  constexpr off_t kWindow = off_t{1} << 30U;
  auto cold = Cold::verified;
  for (off_t at = 0; at < size; at += kWindow) {
    cold = worse(cold, resident(fd, at, static_cast<std::size_t>(std::min(kWindow, size - at))));
  }
  return cold;
}

Cold drop(const fs::path& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (!file.valid() || fstat(file.get(), &info) != 0) return Cold::unverified;
  if (!S_ISREG(info.st_mode) || info.st_size == 0) return Cold::verified;
  auto cold = Cold::warm;
  // A page that is to be written back cannot be dropped, so it shows in the look: only then is the
  // file written back. fsync of thousands of clean files takes seconds.
  for (int attempt = 0; attempt < 3 && cold == Cold::warm; ++attempt) {
    if (attempt > 0 && fsync(file.get()) != 0) return Cold::unverified;
    if (posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED) != 0) return Cold::unverified;
    cold = resident(file.get(), info.st_size);
  }
  return cold;
}

Cold drop_below(const fs::path& root, const std::stop_token& stop) {
  std::error_code error;
  const auto kind = fs::status(root, error).type();
  if (kind != fs::file_type::directory) {
    return kind == fs::file_type::regular ? drop(root) : Cold::unverified;
  }
  auto cold = Cold::verified;
  auto walk = fs::recursive_directory_iterator(root, error);
  for (; !error && walk != fs::recursive_directory_iterator(); walk.increment(error)) {
    if (stop.stop_requested()) return Cold::unverified;
    std::error_code ignored;
    if (walk->is_regular_file(ignored) && !walk->is_symlink(ignored)) {
      cold = worse(cold, drop(walk->path()));
    }
  }
  return error ? worse(cold, Cold::unverified) : cold;
}

}  // namespace

Cold make_cold(const std::vector<std::string>& paths, const std::stop_token& stop) {
  if (paths.empty()) return Cold::unverified;
  auto cold = Cold::verified;
  for (const auto& path : paths) cold = worse(cold, drop_below(path, stop));
  return cold;
}

}  // namespace headrace::advisor
