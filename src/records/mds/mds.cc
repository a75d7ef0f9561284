// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/mds/mds.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/indexed_set.h"
#include "headrace/records/mds/hashes.h"
#include "headrace/records/mds/index.h"
#include "headrace/records/mds/sample.h"
#include "headrace/records/mds/shard.h"
#include "headrace/records/parallel.h"
#include "headrace/records/plain_path.h"
#include "headrace/records/shard_index.h"
#include "headrace/records/unpack/inside_index.h"
#include "headrace/records/unpack/unpacked_store.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

constexpr std::string_view kIndex = "index.json";
constexpr unsigned kReaders = 16;

/// A shard, and the folder of the index that names it.
struct PlacedShard {
  std::string folder;
  mds::Shard shard;
};

class MdsSet final : public IndexedSet {
 public:
  MdsSet(ShardIndex index, std::vector<PlacedShard> shards, ClassLabels classes,
         std::unique_ptr<UnpackedStore> unpacked)
      : IndexedSet(std::move(index), std::move(classes)),
        shards_(std::move(shards)),
        unpacked_(std::move(unpacked)) {}

  std::string format() const override { return "mds"; }
  Store* frame_store() const override { return unpacked_.get(); }
  std::string file(SampleId id, const Bytes& frame) const override {
    const auto& all = columns(id);
    const auto column = std::ranges::find(all, "file", &mds::Column::name);
    if (column == all.end() || column->encoding != "str") return {};
    const auto values = mds::split(all, frame);
    if (!values) return {};
    const auto path = (*values)[static_cast<std::size_t>(column - all.begin())].text();
    return is_plain_path(path) ? std::string(path) : std::string();
  }
  std::string index_source() const override { return "index.json"; }
  const std::vector<PlacedShard>& shards() const { return shards_; }

 private:
  const std::vector<mds::Column>& columns(SampleId id) const {
    return shards_[index().frame(id).shard].shard.columns;
  }
  Result<Sample> sample_of(SampleId id, const Bytes& frame) const override {
    const auto& all = columns(id);
    HEADRACE_TRY(auto values, mds::split(all, frame));
    HEADRACE_TRY(const auto picture, mds::picture_column(all));
    HEADRACE_TRY(const auto label, mds::label_column(all));
    Sample sample{.labels = {}, .payload = std::move(values[picture])};
    if (sample.payload.empty()) return Error(Code::corrupt, "a picture of 0 bytes");
    HEADRACE_TRY(sample.labels, mds::numbers(all[label], values[label].span()));
    HEADRACE_TRY(map_labels(sample.labels));
    return sample;
  }

  Result<RawRecord> record_of(SampleId id, const Bytes& frame) const override {
    const auto& all = columns(id);
    HEADRACE_TRY(auto values, mds::split(all, frame));
    RawRecord record;
    record.content = frame;
    record.number = static_cast<std::uint64_t>(id);
    if (const auto label = mds::label_column(all)) {
      auto numbers = mds::numbers(all[*label], values[*label].span());
      if (numbers) record.labels = *std::move(numbers);
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      record.fields.push_back({.name = all[i].name, .content = std::move(values[i])});
    return record;
  }

  const std::vector<PlacedShard> shards_;
  const std::unique_ptr<UnpackedStore> unpacked_;
};

class Opener {
 public:
  Opener(Store& store, const Context& context, const OpenOptions& options)
      : store_(store), context_(context), options_(options), stop_(options.stop) {}

  /// The indexes, sorted; that of the root alone if there is one: it may name shards in folders.
  Result<std::vector<ObjectInfo>> find_indexes() {
    auto root = store_.head(std::string(kIndex), stop_);
    if (root) return std::vector<ObjectInfo>{*std::move(root)};
    if (root.error().code() != Code::not_found) return std::move(root).error();
    std::vector<ObjectInfo> found;
    const auto take = [&found](ListPage&& page) -> Result<bool> {
      for (ObjectInfo& object : page.objects)
        if (object.key.ends_with(fmt::format("/{}", kIndex))) found.push_back(std::move(object));
      return true;
    };
    HEADRACE_TRY(store_.list({}, stop_, take));
    std::ranges::sort(found, {}, &ObjectInfo::key);
    if (!found.empty()) return found;
    return Error(Code::not_found, fmt::format("no {} under {}", kIndex, store_.describe()),
                 "give the folder that holds it");
  }

  Result<std::vector<PlacedShard>> read_index(const ObjectInfo& index) {
    HEADRACE_TRY(const auto read,
                 read_now(store_, {.key = index.key, .pin = index.pin, .stop = stop_}));
    auto shards = mds::parse_index(read.bytes.text());
    if (!shards) return std::move(shards).error().at(object_place(store_.describe(), index.key));
    std::vector<PlacedShard> placed;
    const std::string folder = index.key.substr(0, index.key.size() - kIndex.size());
    for (mds::Shard& shard : *shards)
      placed.push_back({.folder = folder, .shard = std::move(shard)});
    return placed;
  }

  /// Many shards side by side, a wave after the other.
  Result<ShardIndex> index_all(const std::vector<PlacedShard>& shards) {
    constexpr std::size_t kWave = 32;  // each holds a descriptor until it is joined
    HEADRACE_TRY(auto all, ShardIndex::make());
    for (std::size_t begin = 0; begin < shards.size(); begin += kWave) {
      const std::size_t count = std::min(kWave, shards.size() - begin);
      std::vector<std::optional<Found>> found(count);
      HEADRACE_TRY(parallel_for(count, kReaders, stop_,
                                [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                  HEADRACE_TRY(found[i], index_one(shards[begin + i], stop));
                                  return {};
                                }));
      for (const auto& one : found) HEADRACE_TRY(all.add(one->object, one->frames));
    }
    return all;
  }

  /// Made before any shard is read, if one is compressed.
  Result<void> prepare(const std::vector<PlacedShard>& shards) {
    std::uint64_t bytes = 0;
    for (const PlacedShard& one : shards) bytes += one.shard.codec ? one.shard.raw.bytes : 0;
    if (bytes == 0) return {};
    HEADRACE_TRY(unpacked_, make_unpacked_store(store_, options_.scanning));
    for (const PlacedShard& one : shards)
      if (options_.scanning != nullptr && one.shard.codec && one.shard.zip)
        options_.scanning->total += one.shard.zip->bytes;
    context_.notices->add(
        "unpacked",
        fmt::format("{} holds compressed shards, which have no random access: {} bytes "
                    "are unpacked into scratch by every job, before its first sample or, "
                    "if the set's index is kept, as it reads; write the set without "
                    "compression to start at once",
                    store_.describe(), bytes));
    return {};
  }

  std::unique_ptr<UnpackedStore> take_unpacked() { return std::move(unpacked_); }

 private:
  struct Found {
    ObjectInfo object;
    ShardFrames frames;
  };

  Result<Found> index_one(const PlacedShard& placed, const std::stop_token& stop) {
    const mds::Shard& shard = placed.shard;
    const mds::File& file = shard.zip ? *shard.zip : shard.raw;
    auto info = store_.head(placed.folder + file.basename, stop);
    if (!info)
      return std::move(info).error().advise("the index names it; check that copying was finished");
    ObjectInfo object = *std::move(info);
    object.key = placed.folder + file.basename;
    std::string why;
    if (object.size != file.bytes)
      why = fmt::format("a shard of {} bytes, of {} in the index", object.size, file.bytes);
    if (shard.codec) return index_compressed(shard, object, why, stop);
    HEADRACE_TRY(auto frames, mds::find_samples(store_, object, shard, stop));
    return noted({.object = std::move(object), .frames = std::move(frames)}, why);
  }

  Result<Found> index_compressed(const mds::Shard& shard, const ObjectInfo& object, std::string why,
                                 const std::stop_token& stop) {
    const SideKey key{.store = store_.describe(),
                      .object = object.key,
                      .pin = object.pin,
                      .kind = "mds-unpacked",
                      .version = 1};
    auto known = known_inside(options_.side_store, store_, object);
    auto frames = known ? kept_frames(key, shard) : std::nullopt;
    if (frames) {
      unpacked_->unpack_later(object, known->codec, known->inside);
      if (options_.scanning != nullptr) options_.scanning->total -= object.size;
    } else {
      known = KnownInside{.codec = *shard.codec, .inside = {}};
      HEADRACE_TRY(known->inside, unpacked_->unpack(object, *shard.codec, shard.raw.bytes, stop));
      HEADRACE_TRY(frames, find_inside(shard, inside_of(object, known->inside),
                                       known->inside.failure.empty(), stop));
      keep_inside(options_.side_store, store_, object, *known);
      // Not kept: it is made again, and nothing else is lost.
      if (options_.side_store != nullptr)
        std::ignore = options_.side_store->put(key, frames->to_bytes());
    }
    if (!known->inside.failure.empty()) why = known->inside.failure;
    return noted({.object = inside_of(object, known->inside), .frames = *std::move(frames)}, why);
  }

  /// Nothing if they are not those of so many samples: the set's index may be another one by now.
  std::optional<ShardFrames> kept_frames(const SideKey& key, const mds::Shard& shard) const {
    const auto kept = options_.side_store->get(key);
    if (!kept || !*kept) return std::nullopt;
    auto frames = ShardFrames::from_bytes((*kept)->span());
    if (!frames || frames->frames().size() != shard.samples) return std::nullopt;
    frames->source = "side-store";
    return *std::move(frames);
  }

  Result<ShardFrames> find_inside(const mds::Shard& shard, const ObjectInfo& object, bool whole,
                                  const std::stop_token& stop) {
    if (whole) {
      HEADRACE_TRY(const auto hashes,
                   mds::check_hashes(*unpacked_, object, shard.raw.hashes, stop));
      if (!hashes.wrong.empty()) {
        return mds::no_samples(object, shard,
                               fmt::format("{} of the shard is not the index's", hashes.wrong));
      }
    }
    return mds::find_samples(*unpacked_, object, shard, stop);
  }

  Result<Found> noted(Found found, const std::string& why) {
    const std::string place = object_place(store_.describe(), found.object.key);
    if (!why.empty()) context_.notices->add("damage", fmt::format("{}: {}", place, why));
    for (const Damage& damage : found.frames.damage())
      context_.notices->add("damage", fmt::format("{} @ {}: {}", place, damage.begin, damage.why));
    return found;
  }

  Store& store_;
  const Context& context_;
  const OpenOptions& options_;
  const std::stop_token& stop_;
  std::unique_ptr<UnpackedStore> unpacked_;
};

}  // namespace

bool is_mds(ByteSpan first_bytes) { return mds::is_index(first_bytes); }

ContainerKind mds_kind() {
  return {.what = "MDS set",
          .suffixes = {".mds", ".mds.zstd", ".mds.gz", ".mds.bz2", ".mds.br", ".mds.snappy"},
          .begins = is_mds,
          .marker = std::string(kIndex)};
}

Result<std::unique_ptr<Dataset>> open_mds(Store& store, const Context& context,
                                          const OpenOptions& options) {
  Opener opener(store, context, options);
  HEADRACE_TRY(const auto indexes, opener.find_indexes());
  std::vector<PlacedShard> shards;
  for (const ObjectInfo& index : indexes) {
    HEADRACE_TRY(auto of_index, opener.read_index(index));
    std::ranges::move(of_index, std::back_inserter(shards));
  }
  HEADRACE_TRY(auto own, read_class_file(store, indexes.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  HEADRACE_TRY(opener.prepare(shards));
  HEADRACE_TRY(auto index, opener.index_all(shards));
  return std::make_unique<MdsSet>(std::move(index), std::move(shards), std::move(classes),
                                  opener.take_unpacked());
}

Result<std::vector<WrongShard>> find_wrong_shards(Store& store, const Dataset& set,
                                                  Notices& notices, const std::stop_token& stop) {
  const auto* const mds = dynamic_cast<const MdsSet*>(&set);
  if (mds == nullptr) return std::vector<WrongShard>();
  const auto& shards = mds->shards();
  std::vector<WrongShard> looked(shards.size());
  std::uint64_t sample = 0;
  for (std::size_t i = 0; i < shards.size(); ++i) {
    looked[i].begin = sample;
    looked[i].end = sample += shards[i].shard.samples;
  }
  HEADRACE_TRY(parallel_for(
      shards.size(), kReaders, stop,
      [&](std::size_t i, const std::stop_token& any_stop) -> Result<void> {
        const mds::Shard& shard = shards[i].shard;
        // A shard of another length has samples that tell so, each at its place.
        if (shard.codec || shard.raw.hashes.empty() || shard.samples == 0) return {};
        const Extent extent = set.locate(SampleId{looked[i].begin});
        if (extent.pin.size != shard.raw.bytes) return {};
        const ObjectInfo object{.key = extent.key, .size = extent.pin.size, .pin = extent.pin};
        HEADRACE_TRY(auto found, mds::check_hashes(store, object, shard.raw.hashes, any_stop));
        if (!found.unknown.empty()) {
          notices.add("hash-unknown", fmt::format("hashes by {} are not checked", found.unknown));
        }
        if (found.wrong.empty()) return {};
        HEADRACE_TRY(found, mds::check_hashes(store, object, shard.raw.hashes, any_stop, true));
        if (!found.wrong.empty()) {
          looked[i].why = fmt::format("{} of its shard is not the index's", found.wrong);
          return {};
        }
        notices.add("read-again",
                    fmt::format("{} had another hash when it was read first than past the caches: "
                                "this machine's memory or disk may be failing",
                                object_place(store.describe(), object.key)));
        return {};
      }));
  std::erase_if(looked, [](const WrongShard& shard) { return shard.why.empty(); });
  return looked;
}

}  // namespace headrace
