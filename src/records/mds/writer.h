// SPDX-License-Identifier: Apache-2.0
/// \file Writes MDS: `shard.00000.mds`, …, and `index.json` once all are there.
///
/// Columns are `image`, `label` (if the samples have labels) and `file` (if the source has paths),
/// in this set of types: image jpeg or png if all of the shard are such, else bytes; label int, or
/// float32, or an array of float32 if there are several. With `--compression zstd` shards are
/// `.mds.zstd`. Each has its xxh64 in the index.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::mds {

const WriterKind& writer_kind();

}  // namespace headrace::mds
