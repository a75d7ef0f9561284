// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/shard_indexer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/parallel.h"
#include "headrace/records/scan.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

class Indexer {
 public:
  Indexer(Store& store, const Context& context, const OpenOptions& options,
          const Indexing& indexing, unsigned threads)
      : store_(store),
        context_(context),
        options_(options),
        indexing_(indexing),
        threads_(threads) {}

  Result<ShardFrames> index(const ObjectInfo& shard, const std::stop_token& stop) const {
    HEADRACE_TRY(auto frames, find(shard, stop));
    // What needed no scan is nothing to wait for.
    if (options_.scanning != nullptr && frames.source != "scan")
      options_.scanning->total -= shard.size;
    return frames;
  }

 private:
  Result<ShardFrames> find(const ObjectInfo& shard, const std::stop_token& stop) const {
    if (shard.size == 0) {
      HEADRACE_TRY(auto none, ShardFrames::make());
      if (indexing_.check_end) HEADRACE_TRY(indexing_.check_end(store_, shard, stop, none));
      return none;
    }
    if (indexing_.beside) {
      HEADRACE_TRY(auto found, indexing_.beside(store_, shard, stop));
      if (found.frames) return *std::move(found.frames);
      if (!found.why_not.empty()) {
        context_.notices->add("idx-wrong",
                              fmt::format("the index of {} does not fit it: {}; it is scanned "
                                          "instead",
                                          shard.key, found.why_not));
      }
    }
    if (auto kept = from_side_store(shard)) return *std::move(kept);
    if (indexing_.whole) {  // one that is kept says that the container was read in stretches
      HEADRACE_TRY(auto whole, indexing_.whole(store_, shard, stop));
      if (whole) {
        note(shard, *whole);
        return *std::move(whole);
      }
    }
    HEADRACE_TRY(auto frames,
                 scan_surely(store_, shard, indexing_.framing,
                             {.threads = threads_, .count = read_bytes(options_.scanning)},
                             *context_.notices, stop));
    if (indexing_.check_end) HEADRACE_TRY(indexing_.check_end(store_, shard, stop, frames));
    note(shard, frames);
    keep(shard, frames);
    return frames;
  }

  void note(const ObjectInfo& shard, const ShardFrames& frames) const {
    for (const Damage& damage : frames.damage()) {
      context_.notices->add("damage",
                            fmt::format("{} @ {}: {} bytes are no record: {}",
                                        object_place(store_.describe(), shard.key), damage.begin,
                                        damage.end - damage.begin, damage.why));
    }
  }

  SideKey side_key(const ObjectInfo& shard) const {
    return {.store = store_.describe(),
            .object = shard.key,
            .pin = shard.pin,
            .kind = indexing_.kind,
            .version = indexing_.version};
  }

  std::optional<ShardFrames> from_side_store(const ObjectInfo& shard) const {
    if (options_.side_store == nullptr) return std::nullopt;
    const auto kept = options_.side_store->get(side_key(shard));
    if (!kept || !*kept) return std::nullopt;  // losing it costs a scan, nothing else
    auto frames = ShardFrames::from_bytes((*kept)->span());
    if (!frames) return std::nullopt;
    frames->source = "side-store";
    return *std::move(frames);
  }

  void keep(const ObjectInfo& shard, const ShardFrames& frames) const {
    if (options_.side_store == nullptr) return;
    const auto put = options_.side_store->put(side_key(shard), frames.to_bytes());
    if (!put) context_.notices->add("index-not-kept", put.error().to_string());
  }

  Store& store_;
  const Context& context_;
  const OpenOptions& options_;
  const Indexing& indexing_;
  const unsigned threads_;
};

}  // namespace

Result<ShardIndex> index_shards(Store& store, const Context& context, const OpenOptions& options,
                                const Indexing& indexing, const std::vector<ObjectInfo>& shards) {
  constexpr unsigned kThreads = 8;
  constexpr std::size_t kWave = 32;  // their indexes wait for each other, each in a file
  const bool wide = shards.size() >= kThreads;
  const Indexer indexer(store, context, options, indexing, wide ? 1 : kThreads);
  if (options.scanning != nullptr)
    for (const ObjectInfo& shard : shards) options.scanning->total += shard.size;
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

}  // namespace headrace
