// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/names.h"

namespace headrace::mount {

std::string_view why_hidden(std::string_view name) {
  if (name.empty()) return "an empty name";
  if (name == "." || name == "..") return "a name that means another folder";
  if (name.size() > kLongestName) return "a name longer than 255 bytes";
  if (name.find('/') != std::string_view::npos) return "a name with a '/'";
  if (name.find('\0') != std::string_view::npos) return "a name with a zero byte";
  return {};
}

}  // namespace headrace::mount
