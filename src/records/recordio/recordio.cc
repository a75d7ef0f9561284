// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/recordio.h"

#include <fmt/format.h>

#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"
#include "headrace/records/containers.h"
#include "headrace/records/parallel.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/idx.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/scan.h"
#include "headrace/records/shard_index.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

constexpr std::uint32_t kIndexVersion = 1;

class RecordioSet final : public Dataset {
 public:
  RecordioSet(ShardIndex index, ClassLabels classes)
      : index_(std::move(index)), classes_(std::move(classes)), fingerprint_(index_.fingerprint()) {
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
    auto record = recordio::unframe(frame);
    if (!record) return std::move(record).error().at(name(id));
    RawRecord raw{.content = *std::move(record), .key = std::nullopt, .labels = {}};
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
    HEADRACE_TRY(const auto record, recordio::unframe(frame));
    HEADRACE_TRY(auto image, recordio::parse_image_record(record));
    if (image.image.empty()) return Error(Code::corrupt, "a record without a picture");
    HEADRACE_TRY(classes_.map(image.labels));
    return Sample{.labels = std::move(image.labels), .payload = std::move(image.image)};
  }

  const ShardIndex index_;
  const ClassLabels classes_;
  Hash128 fingerprint_;
};

class Indexer {
 public:
  Indexer(Store& store, const Context& context, const OpenOptions& options, unsigned threads)
      : store_(store), context_(context), options_(options), threads_(threads) {}

  Result<ShardFrames> index(const ObjectInfo& rec, const std::stop_token& stop) const {
    if (rec.size == 0) return ShardFrames::make();
    HEADRACE_TRY(auto idx, recordio::read_idx(store_, rec, stop));
    if (idx.frames) return *std::move(idx.frames);
    if (!idx.why_not.empty()) {
      context_.notices->add("idx-wrong",
                            fmt::format("{} does not fit {}: {}; the file is scanned instead",
                                        recordio::idx_key(rec.key), rec.key, idx.why_not));
    }
    if (auto kept = from_side_store(rec)) return *std::move(kept);
    HEADRACE_TRY(auto frames, recordio::scan(store_, rec, {.threads = threads_}, stop));
    for (const Damage& damage : frames.damage()) {
      context_.notices->add("damage",
                            fmt::format("{} @ {}: {} bytes are no record: {}",
                                        object_place(store_.describe(), rec.key), damage.begin,
                                        damage.end - damage.begin, damage.why));
    }
    keep(rec, frames);
    return frames;
  }

 private:
  SideKey side_key(const ObjectInfo& rec) const {
    return {.store = store_.describe(),
            .object = rec.key,
            .pin = rec.pin,
            .kind = "rec-index",
            .version = kIndexVersion};
  }

  std::optional<ShardFrames> from_side_store(const ObjectInfo& rec) const {
    if (options_.side_store == nullptr) return std::nullopt;
    const auto kept = options_.side_store->get(side_key(rec));
    if (!kept || !*kept) return std::nullopt;  // losing it costs a scan, nothing else
    auto frames = ShardFrames::from_bytes((*kept)->span());
    if (!frames) return std::nullopt;
    frames->source = "side-store";
    return *std::move(frames);
  }

  void keep(const ObjectInfo& rec, const ShardFrames& frames) const {
    if (options_.side_store == nullptr) return;
    const auto put = options_.side_store->put(side_key(rec), frames.to_bytes());
    if (!put) context_.notices->add("index-not-kept", put.error().to_string());
  }

  Store& store_;
  const Context& context_;
  const OpenOptions& options_;
  const unsigned threads_;
};

/// Many shards side by side, or one in stretches.
Result<ShardIndex> index_all(Store& store, const Context& context, const OpenOptions& options,
                             const std::vector<ObjectInfo>& shards) {
  constexpr unsigned kThreads = 8;
  constexpr std::size_t kWave = 32;  // their indexes wait for each other, each in a file
  const bool wide = shards.size() >= kThreads;
  const Indexer indexer(store, context, options, wide ? 1 : kThreads);
  HEADRACE_TRY(auto all, ShardIndex::make());
  for (std::size_t begin = 0; begin < shards.size(); begin += kWave) {
    const std::size_t count = std::min(kWave, shards.size() - begin);
    std::vector<std::optional<ShardFrames>> found(count);
    HEADRACE_TRY(parallel_for(count, wide ? kThreads : 1, options.stop,
                              [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                HEADRACE_TRY(found[i], indexer.index(shards[begin + i], stop));
                                return {};
                              }));
    for (std::size_t i = 0; i < count; ++i) HEADRACE_TRY(all.add(shards[begin + i], *found[i]));
  }
  return all;
}

}  // namespace

bool is_recordio(ByteSpan first_bytes) {
  return first_bytes.size() >= sizeof recordio::kMagic &&
         std::memcmp(first_bytes.data(), &recordio::kMagic, sizeof recordio::kMagic) == 0;
}

Result<std::unique_ptr<Dataset>> open_recordio(Store& store, const Context& context,
                                               const OpenOptions& options) {
  HEADRACE_TRY(const auto shards,
               find_containers(store, context,
                               {.what = "RecordIO file", .suffix = ".rec", .begins = is_recordio},
                               options.stop));
  HEADRACE_TRY(auto own, read_class_file(store, shards.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  HEADRACE_TRY(auto index, index_all(store, context, options, shards));
  return std::make_unique<RecordioSet>(std::move(index), std::move(classes));
}

}  // namespace headrace
