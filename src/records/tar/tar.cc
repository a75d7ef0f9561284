// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/containers.h"
#include "headrace/records/indexed_set.h"
#include "headrace/records/parallel.h"
#include "headrace/records/plain_path.h"
#include "headrace/records/shard_indexer.h"
#include "headrace/records/tar/entry.h"
#include "headrace/records/tar/sample.h"
#include "headrace/records/tar/walk.h"
#include "headrace/records/unpack/inside_index.h"
#include "headrace/records/unpack/unpacked_store.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

class TarSet final : public IndexedSet {
 public:
  TarSet(ShardIndex index, ClassLabels classes, std::unique_ptr<UnpackedStore> unpacked)
      : IndexedSet(std::move(index), std::move(classes)), unpacked_(std::move(unpacked)) {}

  std::string format() const override { return "tar"; }
  Store* frame_store() const override { return unpacked_.get(); }
  std::string file(SampleId /*id*/, const Bytes& frame) const override {
    const auto members = tar::read_members(frame);
    if (!members) return {};
    std::string path = tar::picture_name(*members);
    if (path.starts_with("./")) path.erase(0, 2);
    return is_plain_path(path) ? path : std::string();
  }

 private:
  Result<Sample> sample_of(SampleId id, const Bytes& frame) const override {
    HEADRACE_TRY(const auto members, tar::read_members(frame));
    if (index().is_repeat(id)) return key_again(members.key);
    Sample sample;
    HEADRACE_TRY(sample.payload, tar::picture_of(members));
    if (sample.payload.empty()) return Error(Code::corrupt, "a picture of 0 bytes");
    HEADRACE_TRY(sample.labels, tar::labels_of(members));
    HEADRACE_TRY(map_labels(sample.labels));
    return sample;
  }

  Result<RawRecord> record_of(SampleId /*id*/, const Bytes& frame) const override {
    HEADRACE_TRY(auto members, tar::read_members(frame));
    RawRecord record;
    record.content = frame;
    if (auto labels = tar::labels_of(members)) record.labels = *std::move(labels);
    record.key = std::move(members.key);
    for (tar::Field& field : members.fields)
      record.fields.push_back({.name = std::move(field.name), .content = std::move(field.content)});
    return record;
  }

  /// webdataset hands out both, and nobody learns whether two samples are meant or two halves.
  static Error key_again(std::string_view key) {
    return {Code::corrupt,
            fmt::format("members of sample \"{}\" stand further up in the same tar, too", key),
            "members of one sample must stand side by side, and two samples must not share a key"};
  }

  const std::unique_ptr<UnpackedStore> unpacked_;
};

/// An archive ends in blocks of zeros. Without them it was cut, maybe between two samples: then
/// nothing else tells that some are lost.
Result<void> check_end(Store& store, const ObjectInfo& shard, const std::string& failure,
                       const std::stop_token& stop, ShardFrames& frames) {
  if (!failure.empty())
    return frames.add(Damage{.begin = shard.size, .end = shard.size, .why = failure});
  const std::uint64_t tail = std::min(shard.size, tar::kBlock);
  HEADRACE_TRY(const auto read, read_now(store, {.key = shard.key,
                                                 .range = {shard.size - tail, tail},
                                                 .pin = shard.pin,
                                                 .stop = stop}));
  if (tail == tar::kBlock && tar::is_zero(read.bytes.span())) return {};
  if (!frames.damage().empty() && frames.damage().back().end == shard.size) return {};
  return frames.add(Damage{.begin = shard.size,
                           .end = shard.size,
                           .why = "no end of the archive: it was cut, or never closed"});
}

/// Shards that are compressed as a whole, unpacked: they have no random access.
class Unpacker {
 public:
  Unpacker(Store& store, const Context& context, const OpenOptions& options)
      : store_(store), context_(context), options_(options) {}

  Result<void> run(std::vector<ObjectInfo>& shards) {
    std::vector<std::optional<KnownInside>> known(shards.size());
    std::vector<std::optional<Codec>> codecs(shards.size());
    constexpr unsigned kReaders = 16;
    HEADRACE_TRY(parallel_for(shards.size(), kReaders, options_.stop,
                              [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                known[i] = known_inside(options_.side_store, store_, shards[i]);
                                if (known[i]) return {};
                                HEADRACE_TRY(const auto head, first_bytes(store_, shards[i], stop));
                                codecs[i] = codec_of(head.span());
                                return {};
                              }));
    const auto is_there = [](const auto& one) { return one.has_value(); };
    if (std::ranges::none_of(known, is_there) && std::ranges::none_of(codecs, is_there)) return {};
    HEADRACE_TRY(unpacked_, make_unpacked_store(store_, options_.scanning));
    for (std::size_t i = 0; options_.scanning != nullptr && i < shards.size(); ++i)
      if (codecs[i]) options_.scanning->total += shards[i].size;
    HEADRACE_TRY(parallel_for(shards.size(), kUnpackers, options_.stop,
                              [&](std::size_t i, const std::stop_token& stop) -> Result<void> {
                                if (!codecs[i]) return {};
                                HEADRACE_TRY(known[i], unpack(shards[i], *codecs[i], stop));
                                return {};
                              }));
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (!known[i]) continue;
      note(shards[i], *known[i]);
      if (!codecs[i]) unpacked_->unpack_later(shards[i], known[i]->codec, known[i]->inside);
      shards[i] = inside_of(std::move(shards[i]), known[i]->inside);
      failures_.emplace(shards[i].key, std::move(known[i]->inside.failure));
    }
    return {};
  }

  std::unique_ptr<UnpackedStore> take_store() { return std::move(unpacked_); }
  /// Why not all of a shard is there; empty if it is, or was never compressed.
  std::string failure(const std::string& key) const {
    const auto found = failures_.find(key);
    return found == failures_.end() ? std::string() : found->second;
  }

 private:
  Result<KnownInside> unpack(const ObjectInfo& shard, Codec codec, const std::stop_token& stop) {
    // Far above what pictures and text come to: more is made to fill disks.
    const std::uint64_t most = (std::uint64_t{1} << 30U) + 200 * shard.size;
    KnownInside found{.codec = codec, .inside = {}};
    HEADRACE_TRY(found.inside, unpacked_->unpack(shard, codec, most, stop));
    keep_inside(options_.side_store, store_, shard, found);
    return found;
  }

  void note(const ObjectInfo& shard, const KnownInside& known) const {
    context_.notices->add(
        "unpacked",
        fmt::format("{} is a {} stream, which can only be read from its beginning: it is unpacked "
                    "into scratch, {} bytes, by every job; keep it as a plain tar to start at once",
                    object_place(store_.describe(), shard.key), to_string(known.codec),
                    known.inside.size));
  }

  Store& store_;
  const Context& context_;
  const OpenOptions& options_;
  std::unique_ptr<UnpackedStore> unpacked_;
  std::map<std::string, std::string> failures_;
};

/// Of a tar whose members make no sample: names tell what is wrong with them.
Result<std::string> first_names(Store& store, const ObjectInfo& shard,
                                const std::stop_token& stop) {
  constexpr std::size_t kNames = 5;
  const auto source = make_store_source(store, shard, {}, stop);
  Window window(*source);
  std::vector<std::string> names;
  for (std::uint64_t at = 0; names.size() < kNames;) {
    window.drop_before(at);
    HEADRACE_TRY(auto entry, tar::read_entry(window, at));
    if (entry.kind != tar::Entry::Kind::entry) break;
    at = entry.end;
    if (entry.is_file()) names.push_back(fmt::format("\"{}\"", entry.name));
  }
  return names.empty() ? "it has none" : fmt::format("such as {}", fmt::join(names, ", "));
}

/// Of a compressed tar only what comes first is there, and it may be too little to tell.
bool begins_as_tar_inside(ByteSpan first_bytes, Codec codec) {
  const auto source = make_memory_source(Bytes::copy_of(first_bytes));
  const auto inside = make_unpacking_source(*source, codec, 1U << 20U);
  const auto head = inside->next();
  return head && head->size() >= tar::kBlock && tar::is_header(head->span().first(tar::kBlock));
}

}  // namespace

bool is_tar(ByteSpan first_bytes) {
  if (const auto codec = codec_of(first_bytes)) return begins_as_tar_inside(first_bytes, *codec);
  return first_bytes.size() >= tar::kBlock && tar::is_header(first_bytes.first(tar::kBlock));
}

ContainerKind tar_kind() {
  return {.what = "tar file",
          .suffixes = {".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz",
                       ".tar.zst", ".tar.zstd"},
          .begins = is_tar,
          .marker = {}};
}

Result<std::unique_ptr<Dataset>> open_tar(Store& store, const Context& context,
                                          const OpenOptions& options) {
  HEADRACE_TRY(auto shards, find_containers(store, context, tar_kind(), options.stop));
  HEADRACE_TRY(auto own, read_class_file(store, shards.front().key, options.stop));
  HEADRACE_TRY(auto classes, ClassLabels::make(std::move(own), options.classes, *context.notices));
  Unpacker unpacker(store, context, options);
  HEADRACE_TRY(unpacker.run(shards));
  auto unpacked = unpacker.take_store();
  Store& from = unpacked ? static_cast<Store&>(*unpacked) : store;
  const auto check = [&unpacker](Store& in, const ObjectInfo& shard, const std::stop_token& stop,
                                 ShardFrames& frames) -> Result<void> {
    return check_end(in, shard, unpacker.failure(shard.key), stop, frames);
  };
  const Indexing indexing = {
      .framing = tar::kFraming, .kind = "tar-index", .beside = {}, .check_end = check};
  HEADRACE_TRY(auto index, index_shards(from, context, options, indexing, shards));
  if (index.size() == 0) {
    HEADRACE_TRY(const auto names, first_names(from, shards.front(), options.stop));
    return Error(Code::not_found, fmt::format("no samples: no member makes one, {}", names),
                 "members of a sample are called KEY.FIELD, such as 7.jpg and 7.cls")
        .at(object_place(store.describe(), shards.front().key));
  }
  return std::make_unique<TarSet>(std::move(index), std::move(classes), std::move(unpacked));
}

}  // namespace headrace
