// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/class_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "headrace/records/classes.h"

namespace headrace {
namespace {

/// Length of a "-00001-of-00004" or "-00001" at the end.
std::size_t shard_suffix(std::string_view stem) {
  const auto digits_before = [&stem](std::size_t end) {
    std::size_t begin = end;
    while (begin > 0 && stem[begin - 1] >= '0' && stem[begin - 1] <= '9') --begin;
    return begin;
  };
  constexpr std::string_view kOf = "-of-";
  std::size_t begin = digits_before(stem.size());
  if (begin == stem.size()) return 0;
  if (begin >= kOf.size() && stem.substr(begin - kOf.size(), kOf.size()) == kOf) {
    const std::size_t end = begin - kOf.size();
    begin = digits_before(end);
    if (begin == end) return 0;
  }
  return begin > 0 && stem[begin - 1] == '-' ? stem.size() - (begin - 1) : 0;
}

}  // namespace

std::string class_file_key(const std::string& container_key) {
  const auto slash = container_key.rfind('/');
  const auto dot = container_key.rfind('.');
  const bool has_suffix =
      dot != std::string::npos && (slash == std::string::npos || dot > slash + 1);
  std::string stem = has_suffix ? container_key.substr(0, dot) : container_key;
  stem.resize(stem.size() - shard_suffix(stem));
  return stem + ".classes.txt";
}

Result<std::vector<std::string>> read_class_file(Store& store, const std::string& container_key,
                                                 const std::stop_token& stop) {
  const auto folder = container_key.substr(0, container_key.rfind('/') + 1);
  for (const std::string& key : {class_file_key(container_key), folder + "classes.txt"}) {
    const auto read = read_now(store, {.key = key, .stop = stop});
    if (read) return classes_from_text(read->bytes.text());
    // Without the right to list, S3 says 403 for what is not there.
    if (read.error().code() != Code::not_found && read.error().code() != Code::denied)
      return read.error();
  }
  return std::vector<std::string>();
}

Result<ClassLabels> ClassLabels::make(std::vector<std::string> own,
                                      const std::vector<std::string>& authority, Notices& notices) {
  ClassLabels labels;
  if (authority.empty()) {
    labels.names_ = std::move(own);
    return labels;
  }
  if (own.empty() || own == authority) {
    labels.names_ = authority;
    return labels;
  }
  std::vector<std::string> sorted = own;
  std::ranges::sort(sorted);
  HEADRACE_TRY(labels.names_, settle_classes(std::move(sorted), authority, notices));
  std::map<std::string_view, std::size_t> numbers;
  for (const std::string& name : labels.names_) numbers.emplace(name, numbers.size());
  for (const std::string& name : own)
    labels.numbers_.push_back(static_cast<float>(numbers.at(name)));
  return labels;
}

Result<void> ClassLabels::map(std::vector<float>& labels) const {
  if (numbers_.empty() || labels.size() != 1) return {};
  const float label = labels[0];
  if (!(label >= 0) || label >= static_cast<float>(numbers_.size()) ||
      label != static_cast<float>(static_cast<std::size_t>(label))) {
    return Error(Code::corrupt,
                 fmt::format("label {} is no class of the {} in the list", label, numbers_.size()));
  }
  labels[0] = numbers_[static_cast<std::size_t>(label)];
  return {};
}

}  // namespace headrace
