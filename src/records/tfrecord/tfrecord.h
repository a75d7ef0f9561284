// SPDX-License-Identifier: Apache-2.0
/// \file TFRecord files of tf.Example as a data set: one or several, plain, GZIP or ZLIB.
///
/// A sample is a record: its labels and its one encoded picture. Shards are sorted by key bytes,
/// records are in file order. Both CRCs of a record are checked each time it is read. Class names,
/// if `pack` left them, stand in `NAME.classes.txt` beside the shard, or in `classes.txt`.
/// A compressed shard is read by ranges all the same (seek_table.h); what it costs is a notice.
#pragma once

#include <memory>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes are the beginning of a TFRecord file, compressed or not.
bool is_tfrecord(ByteSpan first_bytes);

ContainerKind tfrecord_kind();

/// The shards are the objects below the root that begin as TFRecord does, whatever their names.
///  * `not_found`   there is none
Result<std::unique_ptr<Dataset>> open_tfrecord(Store& store, const Context& context,
                                               const OpenOptions& options);

}  // namespace headrace
