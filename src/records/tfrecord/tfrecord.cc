// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/tfrecord.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "headrace/base/mutex.h"
#include "headrace/records/class_file.h"
#include "headrace/records/indexed_set.h"
#include "headrace/records/inflate.h"
#include "headrace/records/scan.h"
#include "headrace/records/shard_indexer.h"
#include "headrace/records/tfrecord/compressed.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"
#include "headrace/records/tfrecord/walk.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

using tfrecord::SeekTables;

/// What the features are called, and what a class counts from.
struct Reading {
  std::string image_key;
  std::string label_key;
  LabelBase base = LabelBase::automatic;
};

class TfrecordSet final : public IndexedSet {
 public:
  TfrecordSet(ShardIndex index, SeekTables tables, ClassLabels classes, Reading reading)
      : IndexedSet(std::move(index), std::move(classes)),
        tables_(std::move(tables)),
        reading_(std::move(reading)) {}

  std::string format() const override { return "tfrecord"; }
  std::uint64_t frame_bytes(SampleId id) const override {
    return tables_.count() == 0 ? index().frame_bytes(id) : locate(id).range.length;
  }
  Extent locate(SampleId id) const override {
    Extent extent = index().locate(id);
    if (const auto table = tables_.find(extent.key))
      extent.range = table->range(begin_of(extent), end_of(extent));
    return extent;
  }
  ByteRange stream_range(SampleId id) const override { return index().locate(id).range; }
  std::string file(SampleId id, const Bytes& bytes) const override {
    const auto record = unframed(id, bytes);
    if (!record) return {};
    const auto example = tfrecord::parse_example(record->span());
    return example ? tfrecord::file_of(*example) : std::string();
  }

  /// What the first record that can be read tells, if it was not said.
  Result<void> settle_label_base(Store& store, Notices& notices, const std::stop_token& stop) {
    if (reading_.base == LabelBase::automatic) {
      HEADRACE_TRY(reading_.base, look_for_base(store, stop));
      if (reading_.base == LabelBase::one) {
        notices.add("label-base",
                    "labels are taken to count from 1, as ImageNet's converters write them (there "
                    "is image/class/text or image/class/synset): label 1 is class 0; "
                    "--label-base 0 says otherwise");
      }
    }
    add_to_fingerprint(fmt::format("{}\n{}\n{}", reading_.image_key, reading_.label_key,
                                   static_cast<int>(reading_.base)));
    return {};
  }

 private:
  Result<LabelBase> look_for_base(Store& store, const std::stop_token& stop) const {
    constexpr std::uint64_t kTried = 16;
    for (std::uint64_t i = 0; i < std::min(size(), kTried); ++i) {
      const Extent extent = locate(SampleId{i});
      HEADRACE_TRY(
          const auto read,
          read_now(store,
                   {.key = extent.key, .range = extent.range, .pin = extent.pin, .stop = stop}));
      if (!index().check(SampleId{i})) continue;
      const auto record = unframed(SampleId{i}, read.bytes);
      if (!record) continue;
      const auto example = tfrecord::parse_example(record->span());
      if (!example || !example->contains(reading_.label_key)) continue;
      return tfrecord::guess_label_base(*example);
    }
    return LabelBase::zero;
  }

  static std::uint64_t begin_of(const Extent& extent) { return extent.range.offset; }
  static std::uint64_t end_of(const Extent& extent) {
    return extent.range.offset + extent.range.length;
  }

  Result<Bytes> unframed(SampleId id, const Bytes& bytes) const {
    if (tables_.count() != 0) {
      const Extent extent = index().locate(id);
      if (const auto table = tables_.find(extent.key)) {
        HEADRACE_TRY(const auto frame,
                     table->inflate(bytes.span(), begin_of(extent), end_of(extent)));
        return tfrecord::unframe(frame);
      }
    }
    return tfrecord::unframe(bytes);
  }

  Result<Sample> sample_of(SampleId id, const Bytes& bytes) const override {
    HEADRACE_TRY(const auto record, unframed(id, bytes));
    HEADRACE_TRY(const auto example, tfrecord::parse_example(record.span()));
    HEADRACE_TRY(const auto image, tfrecord::image_of(example, reading_.image_key));
    HEADRACE_TRY(auto labels, tfrecord::labels_of(example, reading_.label_key));
    if (reading_.base == LabelBase::one) {
      for (float& label : labels) {
        if (label < 1) {
          return Error(Code::corrupt, fmt::format("label {} where classes count from 1", label),
                       "--label-base 0, if they count from 0");
        }
        label -= 1;
      }
    }
    HEADRACE_TRY(map_labels(labels));
    const auto offset = static_cast<std::size_t>(image.data() - record.data());
    return Sample{.labels = std::move(labels), .payload = record.slice(offset, image.size())};
  }

  Result<RawRecord> record_of(SampleId id, const Bytes& bytes) const override {
    RawRecord raw;
    HEADRACE_TRY(raw.content, unframed(id, bytes));
    if (const auto example = tfrecord::parse_example(raw.content.span())) {
      // As stored, whatever a class counts from.
      if (auto labels = tfrecord::labels_of(*example, reading_.label_key))
        raw.labels = *std::move(labels);
    }
    return raw;
  }

  const SeekTables tables_;
  Reading reading_;
};

/// Indexes the shards that are compressed, and gathers their seek tables.
class Compressed {
 public:
  Compressed(const OpenOptions& options, SeekTables& tables, Notices& notices)
      : options_(options), tables_(tables), notices_(notices) {}

  /// Nothing if the shard is not compressed.
  Result<std::optional<ShardFrames>> index(Store& store, const ObjectInfo& shard,
                                           const std::stop_token& stop) {
    const SideKey key{.store = store.describe(),
                      .object = shard.key,
                      .pin = shard.pin,
                      .kind = "tfrecord-inflated",
                      .version = 1};
    HEADRACE_TRY(auto found, from_side_store(key));
    if (!found) {
      HEADRACE_TRY(const auto head, first_bytes(store, shard, stop));
      const Compression compression = compression_of(head.span());
      const bool plain =
          head.size() >= tfrecord::kHeaderBytes && tfrecord::length_in(head.span()).has_value();
      if (plain || compression == Compression::none) return std::optional<ShardFrames>();
      HEADRACE_TRY(found, tfrecord::index_compressed(store, shard, compression, stop,
                                                     read_bytes(options_.scanning)));
      // Before what is kept calls it damaged for ever.
      if (!found->frames.damage().empty()) {
        HEADRACE_TRY(auto again,
                     tfrecord::index_compressed(store, shard, compression, stop, nullptr, true));
        if (again.frames.damage() != found->frames.damage()) {
          note_read_again(notices_, object_place(store.describe(), shard.key),
                          found->frames.damage().front().why);
        }
        found = std::move(again);
      }
      if (options_.side_store != nullptr) {
        // Not kept: it is made again, and nothing else is lost.
        std::ignore = options_.side_store->put(key, tfrecord::to_bytes(*found));
      }
    }
    const MutexLock lock(mutex_);
    HEADRACE_TRY(tables_.add(shard.key, found->table));
    return std::optional(std::move(found->frames));
  }

  void note_cost(Notices& notices) const {
    const MutexLock lock(mutex_);
    if (tables_.count() == 0) return;
    notices.add("compressed",
                fmt::format("{} shards are compressed: they were inflated once to find their "
                            "records, and each sample costs reading and inflating about {} KiB "
                            "more than itself; `headrace convert` makes a plain set of them",
                            tables_.count(), SeekTableBuilder::kSpacing / 2 / 1024));
  }

 private:
  Result<std::optional<tfrecord::CompressedShard>> from_side_store(const SideKey& key) const {
    std::optional<tfrecord::CompressedShard> none;
    if (options_.side_store == nullptr) return none;
    const auto kept = options_.side_store->get(key);
    if (!kept || !*kept) return none;  // losing it costs a scan, nothing else
    auto shard = tfrecord::compressed_from_bytes((*kept)->span());
    if (!shard) return none;
    shard->frames.source = "side-store";
    return std::optional(*std::move(shard));
  }

  const OpenOptions& options_;
  mutable Mutex mutex_;
  SeekTables& tables_ HEADRACE_GUARDED_BY(mutex_);
  Notices& notices_;
};

}  // namespace

bool is_tfrecord(ByteSpan first_bytes) {
  if (first_bytes.size() >= tfrecord::kHeaderBytes && tfrecord::length_in(first_bytes)) return true;
  const Compression compression = compression_of(first_bytes);
  if (compression == Compression::none) return false;
  const auto head = inflate_head(first_bytes, compression, tfrecord::kHeaderBytes);
  return head.size() == tfrecord::kHeaderBytes && tfrecord::length_in(head).has_value();
}

ContainerKind tfrecord_kind() {
  return {.what = "TFRecord file",
          .suffixes = {".tfrecord", ".tfrecords"},
          .begins = is_tfrecord,
          .marker = {},
          .within = {}};
}

Result<std::unique_ptr<Dataset>> open_tfrecord(Store& store, const Context& context,
                                               const OpenOptions& options) {
  HEADRACE_TRY(const auto shards, find_containers(store, context, tfrecord_kind(), options.stop));
  HEADRACE_TRY(auto own, read_class_file(store, shards.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  HEADRACE_TRY(auto tables, SeekTables::make());
  Compressed compressed(options, tables, *context.notices);
  const Indexing indexing = {
      .framing = tfrecord::kFraming,
      .kind = "tfrecord-index",
      .whole = [&compressed](Store& from, const ObjectInfo& shard, const std::stop_token& stop) {
        return compressed.index(from, shard, stop);
      }};
  HEADRACE_TRY(auto index, index_shards(store, context, options, indexing, shards));
  compressed.note_cost(*context.notices);
  const auto or_else = [](const std::string& name, std::string_view other) {
    return name.empty() ? std::string(other) : name;
  };
  Reading reading{.image_key = or_else(options.image_key, tfrecord::kImageKey),
                  .label_key = or_else(options.label_key, tfrecord::kLabelKey),
                  .base = options.label_base};
  auto set = std::make_unique<TfrecordSet>(std::move(index), std::move(tables), std::move(classes),
                                           std::move(reading));
  HEADRACE_TRY(set->settle_label_base(store, *context.notices, options.stop));
  return std::unique_ptr<Dataset>(std::move(set));
}

}  // namespace headrace
