// SPDX-License-Identifier: Apache-2.0
/// \file MXNet picture records as a data set: one or several `.rec`, with or without `.idx`.
///
/// A sample is a record: labels and an encoded picture. Shards are sorted by key bytes, records
/// are in file order. Class names, if `pack` left them, stand in `NAME.classes.txt` beside the
/// shard, or in `classes.txt`.
#pragma once

#include <memory>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes are the beginning of a RecordIO file.
bool is_recordio(ByteSpan first_bytes);

/// Which objects are RecordIO files.
ContainerKind recordio_kind();

/// The shards are the objects below the root that begin as RecordIO does, whatever their names.
///  * `not_found`   there is none
Result<std::unique_ptr<Dataset>> open_recordio(Store& store, const Context& context,
                                               const OpenOptions& options);

}  // namespace headrace
