// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/file_name.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>

#include "headrace/records/folder/folder.h"
#include "headrace/records/picture_kind.h"

namespace headrace {
namespace {

/// Four digits keep the order of 10,000 classes; of more, the names say so themselves.
std::string class_name(const std::vector<std::string>& classes, std::uint64_t number) {
  return number < classes.size() ? classes[number] : fmt::format("{:04}", number);
}

Result<std::string> folder_name(const std::vector<std::string>& classes,
                                std::span<const float> labels) {
  if (labels.size() != 1) {
    return Error(Code::invalid,
                 fmt::format("a sample with {} labels cannot lie in a class folder", labels.size()),
                 "choose a format that holds several labels, such as recordio");
  }
  const float label = labels[0];
  const bool whole = label >= 0 && label == std::trunc(label) && label < 16'777'216;
  if (!whole || (!classes.empty() && label >= static_cast<float>(classes.size()))) {
    return Error(Code::invalid, fmt::format("label {} is no class of the {} that the set has",
                                            label, classes.size()));
  }
  std::string name = class_name(classes, static_cast<std::uint64_t>(label));
  if (name.empty() || name.find('/') != std::string::npos || !is_sample_key(name + "/x")) {
    return Error(Code::invalid, fmt::format("class \"{}\" cannot be a folder's name", name));
  }
  return name;
}

}  // namespace

Result<std::string> folder_file(const std::vector<std::string>& classes, const OutSample& sample) {
  HEADRACE_TRY(const std::string folder, folder_name(classes, sample.labels));
  std::string file(sample.file);
  if (file.empty()) {
    file = fmt::format("{}/{:010}.{}", folder, sample.id, picture_suffix(sample.payload));
  } else if (!file.starts_with(folder + '/')) {
    file = fmt::format("{}/{}", folder, file);
  }
  if (!is_sample_key(file)) {
    return Error(Code::invalid,
                 fmt::format("\"{}\" would be left out when the folder is read", file));
  }
  return file;
}

Error same_folder_file(std::string_view file) {
  return {Code::invalid, fmt::format("two samples would be called \"{}\"", file)};
}

void note_order(Notices& notices, std::string_view file, std::string_view before) {
  notices.add("order-changed", fmt::format("\"{}\" comes before \"{}\" in a folder: the order is "
                                           "not that of the source",
                                           file, before));
}

void note_labels(Notices& notices, const std::vector<std::string>& classes,
                 const std::set<std::uint64_t>& labels) {
  std::map<std::string, std::uint64_t> by_name;
  for (const std::uint64_t label : labels) by_name.emplace(class_name(classes, label), label);
  std::uint64_t number = 0;
  for (const auto& [name, label] : by_name) {
    if (label != number) {
      notices.add("labels-changed",
                  fmt::format("class \"{}\" has label {} in the source and {} in the "
                              "folder, which numbers the classes that it has",
                              name, label, number));
    }
    ++number;
  }
}

}  // namespace headrace
