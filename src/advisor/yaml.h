// SPDX-License-Identifier: Apache-2.0
/// \file YAML files read without exceptions: the one edge where yaml-cpp's become an Error.
#pragma once

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace::advisor {

/// Runs `parse` on the document; what yaml-cpp throws in it becomes `invalid` at `name`, with the
/// line. `parse` is Result<T>(const YAML::Node&).
template <class Parse>
auto with_yaml(std::string_view text, std::string_view name, Parse parse)
    -> decltype(parse(std::declval<const YAML::Node&>())) {
  try {
    return parse(YAML::Load(std::string(text))).at(name);
  } catch (const YAML::Exception& thrown) {
    const auto& mark = thrown.mark;
    const auto place =
        mark.is_null() ? std::string(name) : fmt::format("{}:{}", name, mark.line + 1);
    return Error(Code::invalid, thrown.msg, "it is read as YAML").at(place);
  }
}

struct DataFile {
  std::string path;
  std::string text;
};

/// The file at `path`, or `name` of the data files where that is empty.
Result<DataFile> read_data_file(const std::string& path, std::string_view name);

}  // namespace headrace::advisor
