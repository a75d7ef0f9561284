// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/volume.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace headrace::local {

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
  std::error_code error;
  std::filesystem::path top = std::filesystem::canonical(folder, error);
  struct stat above {};
  while (!error && top.has_relative_path() && ::stat(top.parent_path().c_str(), &above) == 0 &&
         above.st_dev == here.st_dev) {
    top = top.parent_path();
  }
  return Volume{.mounted_at = top.string(),
                .free_bytes = space.f_bavail * space.f_frsize,
                .block_bytes = std::max<std::uint64_t>(space.f_frsize, 1)};
}

Result<void> check_space(const Volume& volume, std::uint64_t bytes_needed,
                         const std::string& remedy) {
  if (bytes_needed <= volume.free_bytes) return {};
  return Error(Code::exhausted,
               fmt::format("the volume at {} has {} bytes free, the files need {}",
                           volume.mounted_at, volume.free_bytes, bytes_needed),
               remedy)
      .at(volume.mounted_at);
}

}  // namespace headrace::local
