// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/writable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace headrace {
namespace {

namespace fs = std::filesystem;

Result<void> check_access(const fs::path& path, int wanted) {
  if (::faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) == 0) return {};
  return errno_error(errno, "write").at(path.string());
}

}  // namespace

Result<void> check_can_write(const std::string& file) {
  std::error_code unknown;
  if (fs::is_directory(file, unknown)) {
    return Error(Code::invalid, "is a folder, where a file should be written",
                 "give the file's name, too")
        .at(file);
  }
  if (fs::exists(file, unknown)) return check_access(file, W_OK);
  fs::path folder = fs::path(file).parent_path();
  while (!folder.empty() && !fs::exists(folder, unknown)) folder = folder.parent_path();
  if (folder.empty()) folder = ".";
  if (!fs::is_directory(folder, unknown))
    return errno_error(ENOTDIR, "make a folder").at(folder.string());
  return check_access(folder, W_OK | X_OK);
}

}  // namespace headrace
