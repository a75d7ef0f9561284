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

}  // namespace headrace
