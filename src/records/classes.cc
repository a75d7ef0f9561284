// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace headrace {

Result<std::vector<std::string>> settle_classes(std::vector<std::string> found,
                                                const std::vector<std::string>& authority,
                                                Notices& notices) {
  if (authority.empty()) return found;
  std::vector<std::string_view> known(authority.begin(), authority.end());
  std::ranges::sort(known);
  for (const std::string& name : found) {
    if (!std::ranges::binary_search(known, name)) {
      return Error(Code::invalid,
                   fmt::format("class \"{}\" is not one of the {} classes of the training set",
                               name, authority.size()),
                   "rename or remove its folder, or add the class to the training set");
    }
  }
  for (const std::string& name : authority) {
    if (!std::ranges::binary_search(found, name)) {
      notices.add("class-missing",
                  fmt::format("no samples of class \"{}\", which the training set has", name));
    }
  }
  return authority;
}

std::string classes_to_text(const std::vector<std::string>& classes) {
  std::string text;
  for (const std::string& name : classes) text += name + '\n';
  return text;
}

std::vector<std::string> classes_from_text(std::string_view text) {
  std::vector<std::string> classes;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    classes.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return classes;
}

}  // namespace headrace
