// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/data_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

namespace headrace {
namespace {

std::vector<std::filesystem::path> places() {
  if (const char* set = std::getenv("HEADRACE_DATA_DIR"); set != nullptr && *set != '\0')
    return {set};
  std::vector<std::filesystem::path> found;
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  if (!error) {
    found.push_back((program / "../../data").lexically_normal());
    found.push_back((program / "../share/headrace/data").lexically_normal());
  }
  found.emplace_back(HEADRACE_SOURCE_DATA_DIR);
  return found;
}

}  // namespace

Result<std::string> find_data_file(std::string_view name) {
  std::vector<std::string> looked;
  for (const auto& place : places()) {
    const auto file = place / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error)) return file.string();
    looked.push_back(place.string());
  }
  return Error(Code::not_found, fmt::format("no data file {} in {}", name, fmt::join(looked, ", ")),
               "set HEADRACE_DATA_DIR to the folder that holds it");
}

}  // namespace headrace
