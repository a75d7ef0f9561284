// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/cache_folder.h"

#include <fmt/format.h>

#include <cstdlib>

namespace headrace {

std::string cache_folder(const char* variable, std::string_view name) {
  const auto set = [](const char* of) -> std::string_view {
    const char* const value = std::getenv(of);
    return value != nullptr ? value : "";
  };
  if (const auto named = set(variable); !named.empty()) return std::string(named);
  if (const auto caches = set("XDG_CACHE_HOME"); !caches.empty())
    return fmt::format("{}/{}", caches, name);
  if (const auto home = set("HOME"); !home.empty()) return fmt::format("{}/.cache/{}", home, name);
  return {};
}

}  // namespace headrace
