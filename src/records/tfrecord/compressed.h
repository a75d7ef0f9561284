// SPDX-License-Identifier: Apache-2.0
/// \file The index of compressed TFRecord shards: where records lie in the stream that a file
/// holds, and where in the file reading can begin for each.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/mapped_array.h"
#include "headrace/base/mutex.h"
#include "headrace/records/seek_table.h"
#include "headrace/records/shard_index.h"
#include "headrace/storage/side_store.h"
#include "headrace/storage/store.h"

namespace headrace::tfrecord {

/// Seek tables by key of their shard, in memory that the kernel can take back.
class SeekTables {
 public:
  static Result<SeekTables> make();

  Result<void> add(const std::string& key, ByteSpan table);
  std::size_t count() const { return at_.size(); }
  std::uint64_t bytes() const { return tables_.size(); }
  /// Nothing if the shard is not compressed.
  std::optional<SeekTable> find(const std::string& key) const;

 private:
  struct Place {
    std::uint64_t at;
    std::uint64_t bytes;
  };
  MappedArray<std::byte> tables_;
  std::map<std::string, Place> at_;
};

/// What is found out about one compressed shard by reading it once.
struct CompressedShard {
  ShardFrames frames;
  std::vector<std::byte> table;  ///< as SeekTable takes it
};

/// Inflates the shard from its first byte to its last. A stream that is cut off or damaged is
/// damage at its end, as far as it could be inflated. `count`: bytes of the file that were read.
/// `fresh`: past every cache.
Result<CompressedShard> index_compressed(Store& store, const ObjectInfo& shard,
                                         Compression compression, const std::stop_token& stop,
                                         std::atomic<std::uint64_t>* count = nullptr,
                                         bool fresh = false);

/// For a SideStore.
std::vector<std::byte> to_bytes(const CompressedShard& shard);
/// `corrupt` if they are not what `to_bytes` made.
Result<CompressedShard> compressed_from_bytes(ByteSpan bytes);

}  // namespace headrace::tfrecord
