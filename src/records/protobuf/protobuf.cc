// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/protobuf/protobuf.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "headrace/records/class_file.h"
#include "headrace/records/indexed_set.h"
#include "headrace/records/plain_path.h"
#include "headrace/records/protobuf/record.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/walk.h"
#include "headrace/records/shard_indexer.h"

namespace headrace {
namespace {

using protobuf::parse_record;

class ProtobufSet final : public IndexedSet {
 public:
  ProtobufSet(ShardIndex index, ClassLabels classes, const OpenOptions& options)
      : IndexedSet(std::move(index), std::move(classes)),
        image_key_(options.image_key),
        label_key_(options.label_key),
        parts_(options.recordio_parts) {
    add_to_fingerprint(fmt::format("{}\n{}\n{}", image_key_, label_key_, static_cast<int>(parts_)));
  }

  std::string format() const override { return "protobuf"; }
  std::string file(SampleId /*id*/, const Bytes& frame) const override {
    const auto message = recordio::unframe(frame, parts_);
    if (!message) return {};
    const auto record = parse_record(message->span());
    // A path with a folder in it, as we write it; another uid is no place in a folder.
    const bool path = record && is_plain_path(record->uid);
    return path ? std::string(record->uid) : std::string();
  }

 private:
  Result<Sample> sample_of(SampleId /*id*/, const Bytes& frame) const override {
    HEADRACE_TRY(const auto message, recordio::unframe(frame, parts_));
    HEADRACE_TRY(const auto record, parse_record(message.span()));
    HEADRACE_TRY(const auto image, protobuf::image_of(record, image_key_));
    HEADRACE_TRY(auto labels, protobuf::labels_of(record, label_key_));
    HEADRACE_TRY(map_labels(labels));
    const auto offset = static_cast<std::size_t>(image.data() - message.data());
    return Sample{.labels = std::move(labels), .payload = message.slice(offset, image.size())};
  }

  /// A message that is none is damage of the file: its writer wrote messages.
  Result<RawRecord> record_of(SampleId /*id*/, const Bytes& frame) const override {
    RawRecord raw;
    HEADRACE_TRY(raw.content, recordio::unframe(frame, parts_));
    HEADRACE_TRY(const auto record, parse_record(raw.content.span()));
    if (!record.uid.empty()) raw.key = std::string(record.uid);
    if (auto labels = protobuf::labels_of(record, label_key_)) raw.labels = *std::move(labels);
    return raw;
  }

  const std::string image_key_;
  const std::string label_key_;
  const recordio::Parts parts_;
};

}  // namespace

bool is_protobuf(ByteSpan first_bytes) {
  while (first_bytes.size() >= recordio::kHeaderBytes) {
    std::uint32_t magic = 0;
    std::uint32_t word = 0;
    std::memcpy(&magic, first_bytes.data(), sizeof magic);
    std::memcpy(&word, first_bytes.data() + sizeof magic, sizeof word);
    const recordio::PartHeader header(word);
    if (magic != recordio::kMagic || !header.begins()) return false;
    const ByteSpan record = first_bytes.subspan(recordio::kHeaderBytes);
    if (header.flag == 1) {  // its first part alone: how long the whole is stands in no header
      constexpr std::uint64_t kUnknown = std::uint64_t{1} << 62U;
      return protobuf::looks_like_record(
          record.first(std::min<std::uint64_t>(header.length, record.size())), kUnknown);
    }
    if (header.length != 0) return protobuf::looks_like_record(record, header.length);
    first_bytes = record;  // an empty record tells nothing
  }
  return false;
}

ContainerKind protobuf_kind() {
  return {.what = "protobuf RecordIO file",
          .suffixes = {".pbr"},
          .begins = is_protobuf,
          .marker = {},
          .within = "recordio"};
}

Result<std::unique_ptr<Dataset>> open_protobuf(Store& store, const Context& context,
                                               const OpenOptions& options) {
  HEADRACE_TRY(const auto shards, find_containers(store, context, protobuf_kind(), options.stop));
  HEADRACE_TRY(auto own, read_class_file(store, shards.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  const Indexing indexing = {
      .framing = recordio::kFraming, .kind = "rec-index", .beside = recordio::read_idx};
  HEADRACE_TRY(auto index, index_shards(store, context, options, indexing, shards));
  return std::make_unique<ProtobufSet>(std::move(index), std::move(classes), options);
}

}  // namespace headrace
