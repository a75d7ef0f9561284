// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/recordio.h"

#include <cstring>
#include <utility>

#include "headrace/records/class_file.h"
#include "headrace/records/containers.h"
#include "headrace/records/indexed_set.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/walk.h"
#include "headrace/records/shard_indexer.h"

namespace headrace {
namespace {

class RecordioSet final : public IndexedSet {
 public:
  RecordioSet(ShardIndex index, ClassLabels classes, recordio::Parts parts)
      : IndexedSet(std::move(index), std::move(classes)), parts_(parts) {
    if (parts_ != recordio::Parts::automatic) add_to_fingerprint("parts");
  }

  std::string format() const override { return "recordio"; }

 private:
  Result<Sample> sample_of(SampleId /*id*/, const Bytes& frame) const override {
    HEADRACE_TRY(const auto record, recordio::unframe(frame, parts_));
    HEADRACE_TRY(auto image, recordio::parse_image_record(record));
    if (image.image.empty()) return Error(Code::corrupt, "a record without a picture");
    HEADRACE_TRY(map_labels(image.labels));
    return Sample{.labels = std::move(image.labels), .payload = std::move(image.image)};
  }
  Result<RawRecord> record_of(SampleId /*id*/, const Bytes& frame) const override {
    RawRecord raw;
    HEADRACE_TRY(raw.content, recordio::unframe(frame, parts_));
    if (auto image = recordio::parse_image_record(raw.content)) raw.labels = image->labels;
    return raw;
  }

  const recordio::Parts parts_;
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
