// SPDX-License-Identifier: Apache-2.0
/// \file MosaicML's MDS shards as a data set: what `index.json` names, in its order.
///
/// A sample's payload is its encoded picture, its label a column of numbers. Compressed shards are
/// unpacked into scratch when the set is opened. Class names, if `pack` left them, stand in
/// `classes.txt` beside the index.
#pragma once

#include <memory>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes may be the beginning of an MDS index.
bool is_mds(ByteSpan first_bytes);

/// How such sets are found: by their `index.json`.
ContainerKind mds_kind();

/// The root's `index.json`, or those in the folders below it.
///  * `not_found`   there is none, or a shard that it names is missing
///  * `corrupt`     the index is no index
///  * `invalid`     it is of another version, or compressed as we do not read it
Result<std::unique_ptr<Dataset>> open_mds(Store& store, const Context& context,
                                          const OpenOptions& options);

/// Samples [begin, end) of a shard that is not what its index says.
struct WrongShard {
  std::uint64_t begin = 0, end = 0;
  std::string why;
};

/// Holds every plain shard against the hashes of its index, by reading all of it, and once more
/// past the caches if they differ; those of compressed shards were checked when they were unpacked.
/// In the order of samples; nothing for a set of another format. `store` is the one it was opened
/// on.
Result<std::vector<WrongShard>> find_wrong_shards(Store& store, const Dataset& set,
                                                  Notices& notices, const std::stop_token& stop);

}  // namespace headrace
