// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

#include "headrace/records/folder/folder.h"
#include "headrace/records/picture_kind.h"

namespace headrace::folder {
namespace {

constexpr const char* kRemedy = "choose a format that keeps labels as numbers, such as manifest";
constexpr float kMaxClass = 1e6F;

/// Names that are found again as classes of these numbers.
Result<void> check_classes(const std::vector<std::string>& classes) {
  if (!std::ranges::is_sorted(classes))
    return Error(Code::invalid, "class names that are not in byte order", kRemedy);
  for (const std::string& name : classes) {
    const bool good = !name.empty() && name.find('/') == std::string::npos &&
                      name.find('\0') == std::string::npos && is_sample_key(name + "/1.jpg");
    if (!good)
      return Error(Code::invalid, fmt::format("class \"{}\" cannot be a folder", name), kRemedy);
  }
  return {};
}

class Writer final : public ShardWriter {
 public:
  explicit Writer(const SetPlace& place) : place_(place) {}

  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t /*shard*/,
                                                   std::uint64_t /*shards*/) {
    HEADRACE_TRY(check_classes(place.classes));
    return std::make_unique<Writer>(place);
  }

  Result<void> add(const OutSample& sample) override {
    HEADRACE_TRY(const std::string name, class_of(sample.labels));
    std::string key = place_.key.empty() ? "" : place_.key + "/";
    // A path of the source is kept if it says the same class.
    const bool same = sample.file.starts_with(name + "/") && is_sample_key(sample.file) &&
                      sample.file.find("/../") == std::string_view::npos &&
                      !sample.file.ends_with('/');
    key += same ? std::string(sample.file)
                : fmt::format("{}/{:09}.{}", name, sample.id, picture_suffix(sample.payload));
    HEADRACE_TRY(put(place_.store, key, sample.payload, place_.stop));
    written_.keys.push_back(std::move(key));
    written_.bytes += sample.payload.size();
    ++written_.samples;
    return {};
  }

  Result<WrittenShard> finish() override {
    for (const std::uint32_t label : labels_) written_.summary += fmt::format("{} ", label);
    return written_;
  }

 private:
  Result<std::string> class_of(std::span<const float> labels) {
    if (labels.size() != 1)
      return Error(Code::invalid, fmt::format("{} labels, not one", labels.size()), kRemedy);
    const float label = labels.front();
    if (!(label >= 0) || label != std::trunc(label) || label > kMaxClass)
      return Error(Code::invalid, fmt::format("label {} is no class number", label), kRemedy);
    const auto number = static_cast<std::uint32_t>(label);
    if (!place_.classes.empty() && number >= place_.classes.size())
      return Error(Code::invalid, fmt::format("label {} has no class name", number), kRemedy);
    labels_.insert(number);
    return place_.classes.empty() ? fmt::format("{:07}", number) : place_.classes[number];
  }

  const SetPlace& place_;
  WrittenShard written_;
  std::set<std::uint32_t> labels_;
};

/// Classes are numbered again by who reads the folder: one without a sample would move the others.
Result<std::vector<std::string>> finish_set(const SetPlace& place,
                                            std::span<const WrittenShard> shards) {
  std::set<std::uint64_t> labels;
  for (const WrittenShard& shard : shards) {
    const char* at = shard.summary.data();
    const char* const end = at + shard.summary.size();
    std::uint64_t label = 0;
    while (at != end) {
      const auto [next, error] = std::from_chars(at, end, label);
      if (error != std::errc()) return Error(Code::corrupt, "what was noted of a shard is no list");
      labels.insert(label);
      at = std::min(next + 1, end);
    }
  }
  const std::uint64_t classes =
      place.classes.empty() ? (labels.empty() ? 0 : *labels.rbegin() + 1) : place.classes.size();
  for (std::uint64_t i = 0; i < classes; ++i) {
    if (labels.contains(i)) continue;
    return Error(Code::invalid,
                 fmt::format("class {} has no sample, so the others would be numbered anew",
                             place.classes.empty() ? std::to_string(i) : place.classes[i]),
                 kRemedy);
  }
  return std::vector<std::string>();
}

/// Only what may be a picture that was written so: others may have put theirs beside it.
bool owns(std::string_view object, std::string_view key) {
  if (!key.empty()) {
    if (!object.starts_with(key) || !object.substr(key.size()).starts_with('/')) return false;
    object.remove_prefix(key.size() + 1);
  }
  return object.find('/') != std::string_view::npos && is_picture_name(object);
}

}  // namespace

const WriterKind& writer_kind() {
  static const WriterKind kKind{.overhead = 0,
                                .compressions = {},
                                .open = Writer::open,
                                .finish_set = finish_set,
                                .owns = owns};
  return kKind;
}

}  // namespace headrace::folder
