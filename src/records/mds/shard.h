// SPDX-License-Identifier: Apache-2.0
/// \file Where the samples of one MDS shard lie, and what of it cannot be read. A function.
#pragma once

#include <stop_token>

#include "headrace/records/mds/index.h"
#include "headrace/records/shard_index.h"
#include "headrace/storage/store.h"

namespace headrace::mds {

/// As many entries as the index promises samples, so that damage moves no other sample. `object`
/// is the shard, unpacked. Only its beginning is read.
Result<ShardFrames> find_samples(Store& store, const ObjectInfo& object, const Shard& shard,
                                 const std::stop_token& stop);

/// All of the shard is damaged: each of its samples.
Result<ShardFrames> no_samples(const ObjectInfo& object, const Shard& shard,
                               const std::string& why);

}  // namespace headrace::mds
