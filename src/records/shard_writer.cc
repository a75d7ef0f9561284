// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/shard_writer.h"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

std::string folder_of(std::string_view key) {
  return std::string(key.substr(0, key.rfind('/') + 1));
}

std::string numbered_stem(const std::string& key, std::uint64_t shard, std::uint64_t shards) {
  if (shards == 1) return key;
  const auto width = std::max<std::size_t>(5, std::to_string(shards).size());
  return fmt::format("{}-{:0{}}-of-{:0{}}", key, shard, width, shards, width);
}

bool is_numbered(std::string_view object, std::string_view key,
                 std::span<const std::string_view> suffixes) {
  if (!object.starts_with(key)) return false;
  object.remove_prefix(key.size());
  if (object.starts_with('-')) {
    const auto end = object.find_first_not_of("0123456789", 1);
    constexpr std::string_view kOf = "-of-";
    if (end == 1 || end == std::string_view::npos || object.substr(end, kOf.size()) != kOf)
      return false;
    object.remove_prefix(end + kOf.size());
    object.remove_prefix(std::min(object.find_first_not_of("0123456789"), object.size()));
  }
  return std::ranges::find(suffixes, object) != suffixes.end();
}

}  // namespace headrace
