// SPDX-License-Identifier: Apache-2.0
/// \file SageMaker's protobuf RecordIO as a data set: RecordIO whose records are
/// aialgs.data.Record.
///
/// A sample is a record with one feature of bytes, its picture. Records of tensors, dense or
/// sparse, are records all the same: `raw` gives them, `parse` says that there is no picture.
/// Shards, indexes and class files as with recordio.
#pragma once

#include <memory>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes are the beginning of a RecordIO file whose first record that is not empty is
/// an aialgs.data.Record.
bool is_protobuf(ByteSpan first_bytes);

ContainerKind protobuf_kind();

///  * `not_found`   there is none
Result<std::unique_ptr<Dataset>> open_protobuf(Store& store, const Context& context,
                                               const OpenOptions& options);

}  // namespace headrace
