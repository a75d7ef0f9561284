// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/yaml.h"

#include <cerrno>
#include <fstream>
#include <iterator>

#include "headrace/base/data_file.h"

namespace headrace::advisor {

Result<DataFile> read_data_file(const std::string& path, std::string_view name) {
  DataFile file{path, {}};
  if (path.empty()) {
    HEADRACE_TRY(file.path, find_data_file(name));
  }
  std::ifstream stream(file.path, std::ios::binary);
  file.text.assign(std::istreambuf_iterator<char>(stream), {});
  if (!stream) return errno_error(errno, "read").at(file.path);
  return file;
}

}  // namespace headrace::advisor
