// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/yaml.h"

#include "headrace/base/data_file.h"
#include "headrace/base/small_file.h"

namespace headrace::advisor {

Result<DataFile> read_data_file(const std::string& path, std::string_view name) {
  DataFile file{path, {}};
  if (path.empty()) {
    HEADRACE_TRY(file.path, find_data_file(name));
  }
  HEADRACE_TRY(file.text, read_small_file(file.path));
  return file;
}

}  // namespace headrace::advisor
