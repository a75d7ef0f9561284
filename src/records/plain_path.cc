// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/plain_path.h"

#include <algorithm>

namespace headrace {

bool is_plain_path(std::string_view name) {
  constexpr std::string_view kNul("\0", 1);
  if (name.find(kNul) != std::string_view::npos) return false;
  std::size_t parts = 0;
  for (std::size_t begin = 0; begin <= name.size(); ++parts) {
    const auto end = std::min(name.find('/', begin), name.size());
    const auto part = name.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    begin = end + 1;
  }
  return parts > 1;
}

}  // namespace headrace
