// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/writer.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "headrace/records/object_puts.h"
#include "headrace/records/picture_kind.h"
#include "headrace/storage/ranges.h"

namespace headrace::manifest {
namespace {

// The picture stands first, as AttributeNames lists it.
using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 1> kSuffixes = {".manifest"};

Json number(float label) {
  if (label == std::trunc(label) && std::abs(label) < 1e15F)
    return static_cast<std::int64_t>(label);
  return label;
}

class Writer final : public ShardWriter {
 public:
  explicit Writer(const SetPlace& place) : place_(place), puts_(place) {}

  static Result<std::unique_ptr<ShardWriter>> open(const SetPlace& place, std::uint64_t shard,
                                                   std::uint64_t shards) {
    auto writer = std::make_unique<Writer>(place);
    writer->key_ = numbered_stem(place.key, shard, shards) + ".manifest";
    HEADRACE_TRY(writer->object_, place.store.create(writer->key_, place.stop));
    return writer;
  }

  Result<void> add(const OutSample& sample) override {
    if (sample.labels.empty())
      return Error(Code::invalid, "a sample without a label", "a manifest names one for each");
    for (const float label : sample.labels)
      if (!std::isfinite(label)) return Error(Code::invalid, "a label that is no number");
    const std::string picture =
        fmt::format("{}/{:09}.{}", place_.key, sample.id, picture_suffix(sample.payload));
    HEADRACE_TRY(puts_.add(picture, sample.payload));
    lines_ += line(sample, picture) + '\n';
    keys_.push_back(picture);
    bytes_ += sample.payload.size();
    return lines_.size() < kFlushBytes ? Result<void>() : flush();
  }

  Result<WrittenShard> finish() override {
    HEADRACE_TRY(puts_.finish());  // the pictures first: a line must name what is there
    HEADRACE_TRY(flush());
    HEADRACE_TRY(object_->finish());
    WrittenShard written{
        .samples = keys_.size(), .bytes = bytes_, .keys = std::move(keys_), .summary = {}};
    written.keys.push_back(key_);
    return written;
  }

 private:
  std::string line(const OutSample& sample, const std::string& picture) const {
    const std::string root = place_.store.describe();
    Json json{{"source-ref", root.starts_with("s3://") ? object_place(root, picture) : picture}};
    if (sample.labels.size() == 1) {
      json["label"] = number(sample.labels.front());
    } else {
      json["label"] = Json::array();
      for (const float label : sample.labels) json["label"].push_back(number(label));
    }
    Json metadata = Json::object();
    const float first = sample.labels.front();
    if (sample.labels.size() == 1 && first >= 0 &&
        first < static_cast<float>(place_.classes.size()))
      metadata["class-name"] = place_.classes[static_cast<std::size_t>(first)];
    if (!sample.file.empty()) metadata["name"] = sample.file;
    if (!metadata.empty()) json["label-metadata"] = std::move(metadata);
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  Result<void> flush() {
    HEADRACE_TRY(object_->append(as_byte_span(lines_)));
    bytes_ += lines_.size();
    lines_.clear();
    return {};
  }

  const SetPlace& place_;
  std::string key_;
  std::unique_ptr<ObjectWriter> object_;
  std::string lines_;  ///< not yet handed over
  std::vector<std::string> keys_;
  std::uint64_t bytes_ = 0;
  ObjectPuts puts_;
};

/// The manifests, and pictures that are called by number in the folder of the key.
bool owns(std::string_view object, std::string_view key) {
  if (is_numbered(object, key, kSuffixes)) return true;
  if (!object.starts_with(key) || !object.substr(key.size()).starts_with('/')) return false;
  object.remove_prefix(key.size() + 1);
  const auto end = object.find_first_not_of("0123456789");
  return end != std::string_view::npos && end >= 9 && object[end] == '.' && is_picture_name(object);
}

}  // namespace

const WriterKind& writer_kind() {
  constexpr std::uint64_t kOverhead = 200;  // a line, without the names
  static const WriterKind kKind{
      .overhead = kOverhead, .compressions = {}, .open = Writer::open, .owns = owns};
  return kKind;
}

}  // namespace headrace::manifest
