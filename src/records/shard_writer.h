// SPDX-License-Identifier: Apache-2.0
/// \file How a set is written, in any format: shard by shard, each of which appears at its end.
///
/// A format gives a `WriterKind` and puts it into its row of formats.cc; `convert` and `pack` do
/// the rest: they choose the samples of each shard, run several shards side by side, remember
/// which are finished, and close the set. What a writer writes depends on its place and on the
/// samples only, never on time or threads. The example to copy is recordio/writer.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/notices.h"
#include "headrace/base/result.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace {

/// Where a set is written, and what all of its shards share. Read by many threads.
struct SetPlace {
  Store& store;
  /// Of the set, without suffix: "train", "packed/train"; shards are named after it. Formats whose
  /// sets are folders write into its folder: what stands before the last '/', or the root.
  std::string key;
  std::vector<std::string> classes;  ///< names of the labels 0, 1, …; empty if they have none
  std::string compression;           ///< one of WriterKind::compressions; empty: none
  /// What is there already was written by an earlier call of the same conversion: objects that are
  /// there with the right size need not be written again.
  bool resumed = false;
  std::shared_ptr<Notices> notices = std::make_shared<Notices>();
  std::stop_token stop;
};

/// One sample on its way. All is valid during the call only.
struct OutSample {
  std::uint64_t id = 0;           ///< ordinal in the source
  std::span<const float> labels;  ///< may be empty
  ByteSpan payload;               ///< the encoded picture; passes through untouched, even empty
  std::string_view name;          ///< for people: "cat/7.jpg", "train.rec#41 @ 5321"
  std::string_view file;          ///< path that the source has for it, "cat/7.jpg"; or empty
};

/// What became of a shard. Kept in words by whoever converts, so that a set that was begun can be
/// closed by another process, on another machine.
struct WrittenShard {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;        ///< of the container
  std::vector<std::string> keys;  ///< objects that appeared, in that order
  std::string summary;            ///< for finish_set only, in the format's own words; UTF-8
};

/// Writers gather so much before they hand it to the store: little enough that it is still in the
/// processor's cache when the store copies it.
inline constexpr std::size_t kFlushBytes = 256U << 10U;

/// One shard on its way. Not thread-safe. Destroyed before `finish`: no container appears.
class ShardWriter {
 public:
  ShardWriter() = default;
  ShardWriter(const ShardWriter&) = delete;
  ShardWriter& operator=(const ShardWriter&) = delete;
  virtual ~ShardWriter() = default;

  /// Samples come in canonical order.
  ///  * `invalid`   the format cannot hold this sample
  virtual Result<void> add(const OutSample& sample) = 0;
  /// Everything is durable and visible when this returns. Called once, at the end.
  virtual Result<WrittenShard> finish() = 0;
};

/// How a format is written. Functions; thread-safe.
struct WriterKind {
  /// At most so many bytes stand around a payload with one label: header, padding, checksums.
  std::uint64_t overhead = 0;
  unsigned names = 0;  ///< how often a sample's name stands in the container
  /// Not 0: every sample is an object of its own, and there are no containers. What is called a
  /// shard is then so many samples, and serves to go on after a kill.
  std::uint64_t samples_a_shard = 0;
  /// Where the class list is kept: `KEY.classes.txt`; `classes.txt`, if the set is a whole folder;
  /// nowhere, if what is written tells the classes.
  enum class ClassList { beside, in_folder, none };
  ClassList class_list = ClassList::beside;
  /// Other than none, such as "gzip".
  std::vector<std::string_view> compressions;
  /// One of `shards` shards. Names follow `numbered_stem`, unless the format has its own.
  Result<std::unique_ptr<ShardWriter>> (*open)(const SetPlace& place, std::uint64_t shard,
                                               std::uint64_t shards) = nullptr;
  /// What stands beside all shards, such as an index of the set; gets the shards in order. Returns
  /// the keys that it wrote. May be null. The class list is not its task.
  Result<std::vector<std::string>> (*finish_set)(const SetPlace& place,
                                                 std::span<const WrittenShard> shards) = nullptr;
  /// True for the keys that a set of this key is made of, whatever its number of shards, without
  /// the class list. What is not the set's own must be false: it is removed by --force.
  bool (*owns)(std::string_view object, std::string_view key) = nullptr;
};

/// "packed/" of "packed/train"; empty for "train".
std::string folder_of(std::string_view key);

/// "train-00001-of-00004"; the key alone if there is one shard.
std::string numbered_stem(const std::string& key, std::uint64_t shard, std::uint64_t shards);

/// True for KEY + suffix and KEY-00001-of-00004 + suffix.
bool is_numbered(std::string_view object, std::string_view key,
                 std::span<const std::string_view> suffixes);

}  // namespace headrace
