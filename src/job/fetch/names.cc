// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/fetch/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace headrace::fetching {
namespace {

constexpr std::size_t kLongestName = 255;
constexpr std::uint64_t kNamed = 5;  // in one error

/// Unfit keys, counted; the first ones in words.
class Complaints {
 public:
  void add(std::string_view key, std::string_view why) {
    if (count_++ < kNamed)
      text_ += fmt::format("{}\"{}\": {}", text_.empty() ? "" : "; ", key, why);
  }
  Result<void> result() const {
    if (count_ == 0) return {};
    const std::string more = count_ > kNamed ? fmt::format("; {} in all", count_) : std::string();
    return Error(Code::invalid, "keys that a folder cannot hold: " + text_ + more,
                 "rename the objects, or use mode stream or keep, which need no files");
  }

 private:
  std::uint64_t count_ = 0;
  std::string text_;
};

}  // namespace

std::string_view unfit(std::string_view key) {
  if (key.empty()) return "an empty key";
  if (key.find('\0') != std::string_view::npos) return "a zero byte";
  if (key == ".headrace" || key.starts_with(".headrace/")) return "a name that fetch itself uses";
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('/', begin), key.size());
    const std::string_view part = key.substr(begin, end - begin);
    if (part.empty()) return end == key.size() ? "ends in '/'" : "an empty part between slashes";
    if (part == "." || part == "..") return "a part that is '.' or '..'";
    if (part.size() > kLongestName) return "a part of more than 255 bytes";
    begin = end + 1;
  }
  return {};
}

Result<void> check_names(const ObjectIndex& objects) {
  Complaints complaints;
  std::string folder;  // of the key before: most keys follow one of the same folder
  for (std::uint64_t i = 0; i < objects.size(); ++i) {
    const std::string whole = objects.key(i);
    const std::string_view key = whole;
    if (const auto why = unfit(key); !why.empty()) {
      complaints.add(key, why);
      continue;
    }
    const std::size_t last = key.rfind('/');
    if (last == std::string_view::npos || key.substr(0, last) == folder) continue;
    folder = key.substr(0, last);
    for (std::size_t at = key.find('/'); at != std::string_view::npos; at = key.find('/', at + 1)) {
      if (objects.find(key.substr(0, at))) {
        complaints.add(key.substr(0, at), fmt::format("a file, and the folder of \"{}\"", key));
      }
    }
  }
  return complaints.result();
}

}  // namespace headrace::fetching
