// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_path.h"

#include "headrace/storage/object_time.h"

namespace headrace::local {

Result<void> check_key(std::string_view key) {
  const auto refuse = [](std::string_view why) {
    return Error(Code::invalid, "a folder cannot hold this key: " + std::string(why),
                 "rename the object");
  };
  if (key.empty()) return refuse("it is empty");
  if (key.find('\0') != std::string_view::npos) return refuse("it has a zero byte");
  for (std::size_t begin = 0; begin <= key.size();) {
    const auto end = std::min(key.find('/', begin), key.size());
    const auto part = key.substr(begin, end - begin);
    if (part.empty()) return refuse("an empty part between slashes");
    if (part == "." || part == "..") return refuse("a part that is '.' or '..'");
    begin = end + 1;
  }
  return {};
}

std::string path_of(std::string_view root, std::string_view key) {
  std::string path(root);
  if (!path.ends_with('/') && !key.empty()) path += '/';
  path += key;
  return path;
}

Pin pin_of(const struct stat& status) {
  return {.modified_ns = object_time(status.st_mtim.tv_sec, status.st_mtim.tv_nsec),
          .size = static_cast<std::uint64_t>(status.st_size)};
}

}  // namespace headrace::local
