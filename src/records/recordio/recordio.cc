// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/recordio.h"

#include <cstring>
#include <utility>

#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"
#include "headrace/records/containers.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/walk.h"
#include "headrace/records/shard_indexer.h"

namespace headrace {
namespace {

class RecordioSet final : public Dataset {
 public:
  RecordioSet(ShardIndex index, ClassLabels classes, recordio::Parts parts)
      : index_(std::move(index)),
        classes_(std::move(classes)),
        parts_(parts),
        fingerprint_(index_.fingerprint()) {
    if (parts_ != recordio::Parts::automatic) fingerprint_ += hash_bytes(as_byte_span("parts"));
    fingerprint_ += hash_bytes(as_byte_span(classes_to_text(classes_.names())));
  }

  std::string format() const override { return "recordio"; }
  std::uint64_t size() const override { return index_.size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return index_.frame_bytes(id); }
  Extent locate(SampleId id) const override { return index_.locate(id); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    HEADRACE_TRY(index_.check(id));
    auto sample = parse_frame(frame);
    if (!sample) return std::move(sample).error().at(name(id));
    return sample;
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const override {
    HEADRACE_TRY(index_.check(id));
    auto record = recordio::unframe(frame, parts_);
    if (!record) return std::move(record).error().at(name(id));
    RawRecord raw;
    raw.content = *std::move(record);
    if (auto image = recordio::parse_image_record(raw.content)) raw.labels = image->labels;
    return raw;
  }
  std::string name(SampleId id) const override { return index_.name(id); }
  const std::vector<std::string>& classes() const override { return classes_.names(); }
  Hash128 fingerprint() const override { return fingerprint_; }
  std::string index_source() const override { return index_.source(); }
  std::vector<PlacedDamage> damage() const override { return index_.damage(); }

 private:
  Result<Sample> parse_frame(const Bytes& frame) const {
    HEADRACE_TRY(const auto record, recordio::unframe(frame, parts_));
    HEADRACE_TRY(auto image, recordio::parse_image_record(record));
    if (image.image.empty()) return Error(Code::corrupt, "a record without a picture");
    HEADRACE_TRY(classes_.map(image.labels));
    return Sample{.labels = std::move(image.labels), .payload = std::move(image.image)};
  }

  const ShardIndex index_;
  const ClassLabels classes_;
  const recordio::Parts parts_;
  Hash128 fingerprint_;
};

}  // namespace

bool is_recordio(ByteSpan first_bytes) {
  return first_bytes.size() >= sizeof recordio::kMagic &&
         std::memcmp(first_bytes.data(), &recordio::kMagic, sizeof recordio::kMagic) == 0;
}

ContainerKind recordio_kind() {
  return {.what = "RecordIO file",
          .suffixes = {".rec"},
          .begins = is_recordio,
          .marker = {},
          .within = {}};
}

Result<std::unique_ptr<Dataset>> open_recordio(Store& store, const Context& context,
                                               const OpenOptions& options) {
  HEADRACE_TRY(const auto shards, find_containers(store, context, recordio_kind(), options.stop));
  HEADRACE_TRY(auto own, read_class_file(store, shards.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  const Indexing indexing = {
      .framing = recordio::kFraming, .kind = "rec-index", .beside = recordio::read_idx};
  HEADRACE_TRY(auto index, index_shards(store, context, options, indexing, shards));
  return std::make_unique<RecordioSet>(std::move(index), std::move(classes),
                                       options.recordio_parts);
}

}  // namespace headrace
