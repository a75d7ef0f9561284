// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/private_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace headrace {

Result<std::unique_ptr<PrivateFolder>> PrivateFolder::make(std::string_view purpose) {
  std::string base = "/var/tmp";
  for (const char* name : {"TMPDIR", "HEADRACE_TMPDIR"}) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') base = value;
  }
  std::string path = fmt::format("{}/headrace-{}-XXXXXX", base, purpose);
  if (::mkdtemp(path.data()) == nullptr) {
    return errno_error(errno, "make a temporary folder").at(base);
  }
  return std::make_unique<PrivateFolder>(std::move(path));
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;  // nothing that a destructor could do about it
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace headrace
