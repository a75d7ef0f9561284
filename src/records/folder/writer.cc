// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "headrace/records/folder/file_name.h"
#include "headrace/records/folder/folder.h"
#include "headrace/records/object_puts.h"

namespace headrace {
namespace {

constexpr std::uint64_t kSamplesAShard = 1000;

bool owns(std::string_view object, std::string_view key) {
  const std::string folder = folder_of(key);
  return object.starts_with(folder) && is_sample_key(object.substr(folder.size()));
}

class FolderWriter final : public ShardWriter {
 public:
  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t /*shard*/,
                                                   std::uint64_t /*shards*/) {
    return std::unique_ptr<ShardWriter>(std::make_unique<FolderWriter>(place));
  }
  explicit FolderWriter(const SetPlace& place) : place_(place), puts_(place) {}

  Result<void> add(const OutSample& sample) override {
    HEADRACE_TRY(const std::string file, folder_file(place_.classes, sample));
    if (file < last_) note_order(*place_.notices, file, last_);
    if (file == last_) return same_folder_file(file);
    labels_.insert(static_cast<std::uint64_t>(sample.labels[0]));
    if (first_.empty()) first_ = file;
    last_ = file;
    std::string key = folder_of(place_.key) + file;
    if (keys_.empty()) keys_.push_back(key);
    last_key_ = key;
    HEADRACE_TRY(puts_.add(std::move(key), sample.payload));
    ++written_.samples;
    written_.bytes += sample.payload.size();
    return {};
  }

  Result<WrittenShard> finish() override {
    HEADRACE_TRY(puts_.finish());
    if (!keys_.empty() && keys_.back() != last_key_) keys_.push_back(last_key_);
    written_.keys = keys_;  // the first and the last: a list of all would be as long as the set
    written_.summary = fmt::format("{}\n{}\n{}", first_, last_, fmt::join(labels_, " "));
    return std::move(written_);
  }

 private:
  const SetPlace& place_;
  WrittenShard written_;
  std::string first_;  ///< of the shard, within the set
  std::string last_;
  std::string last_key_;
  std::set<std::uint64_t> labels_;
  std::vector<std::string> keys_;
  ObjectPuts puts_;
};

/// What the shards' summaries say: first and last file, labels.
class Summaries {
 public:
  explicit Summaries(const SetPlace& place) : place_(place) {}

  /// In order.
  void add(const WrittenShard& shard) {
    if (shard.samples == 0) return;
    const std::string_view text = shard.summary;
    const auto first_end = text.find('\n');
    const auto last_end = text.find('\n', first_end + 1);
    if (last_end == std::string_view::npos) return;
    const std::string_view first = text.substr(0, first_end);
    if (first < before_) note_order(*place_.notices, first, before_);
    before_ = text.substr(first_end + 1, last_end - first_end - 1);
    std::string_view labels = text.substr(last_end + 1);
    while (!labels.empty()) {
      const auto end = std::min(labels.find(' '), labels.size());
      std::uint64_t label = 0;
      std::from_chars(labels.data(), labels.data() + end, label);
      labels_.insert(label);
      labels.remove_prefix(std::min(end + 1, labels.size()));
    }
  }

  void check_labels() const { note_labels(*place_.notices, place_.classes, labels_); }

 private:
  const SetPlace& place_;
  std::string before_;
  std::set<std::uint64_t> labels_;
};

/// Where the source's order is not that of names, two samples of one name may lie far apart: there
/// are then fewer objects than samples.
Result<void> check_count(const SetPlace& place, std::uint64_t samples) {
  const std::string folder = folder_of(place.key);
  std::uint64_t objects = 0;
  HEADRACE_TRY(
      place.store.list({.prefix = folder}, place.stop, [&](ListPage&& page) -> Result<bool> {
        for (const ObjectInfo& object : page.objects)
          if (owns(object.key, place.key)) ++objects;
        return true;
      }));
  if (objects == samples) return {};
  return Error(Code::invalid,
               fmt::format("{} samples were written and {} objects are there: some have the same "
                           "name, or the folder holds other files",
                           samples, objects),
               "choose a format that needs no names, such as recordio")
      .at(place.store.describe());
}

Result<std::vector<std::string>> check_set(const SetPlace& place,
                                           std::span<const WrittenShard> shards) {
  Summaries summaries(place);
  std::uint64_t samples = 0;
  for (const WrittenShard& shard : shards) {
    summaries.add(shard);
    samples += shard.samples;
  }
  summaries.check_labels();
  HEADRACE_TRY(check_count(place, samples));
  return std::vector<std::string>();
}

}  // namespace

const WriterKind& folder_writer_kind() {
  static const WriterKind kKind{.samples_a_shard = kSamplesAShard,
                                .class_list = WriterKind::ClassList::none,
                                .open = FolderWriter::open,
                                .finish_set = check_set,
                                .owns = owns};
  return kKind;
}

}  // namespace headrace
