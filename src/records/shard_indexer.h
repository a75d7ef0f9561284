// SPDX-License-Identifier: Apache-2.0
/// \file The index of a set of containers: from beside them, from the SideStore, or by a scan.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/records/dataset.h"
#include "headrace/records/shard_index.h"
#include "headrace/records/step.h"

namespace headrace {

/// What was made of an index that lies beside a container.
struct FoundIndex {
  std::optional<ShardFrames> frames;  ///< if it fits the container
  std::string why_not;                ///< else; empty if there is no index
};

struct Indexing {
  Framing framing;
  std::string kind;           ///< of the index in the SideStore: "rec-index"
  std::uint32_t version = 2;  ///< 1 had no repeats
  /// May be empty: the format has no index beside its containers.
  std::function<Result<FoundIndex>(Store& store, const ObjectInfo& shard,
                                   const std::stop_token& stop)>
      beside;
  /// After a scan: what only the end of the container tells, as damage. May be empty.
  std::function<Result<void>(Store& store, const ObjectInfo& shard, const std::stop_token& stop,
                             ShardFrames& frames)>
      check_end = {};
  /// May be empty. For containers that cannot be read in stretches, such as compressed ones: their
  /// frames; nothing: the container is looked for beside and scanned. Called by many threads.
  std::function<Result<std::optional<ShardFrames>>(Store& store, const ObjectInfo& shard,
                                                   const std::stop_token& stop)>
      whole = {};
};

/// Many shards side by side, or one in stretches. Leaves the notices "idx-wrong" and "damage".
Result<ShardIndex> index_shards(Store& store, const Context& context, const OpenOptions& options,
                                const Indexing& indexing, const std::vector<ObjectInfo>& shards);

}  // namespace headrace
