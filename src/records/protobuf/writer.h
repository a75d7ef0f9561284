// SPDX-License-Identifier: Apache-2.0
/// \file A data set written as SageMaker's protobuf RecordIO: `NAME.pbr`, a Record a sample.
///
/// The picture is the feature "values" of bytes with its content type, labels are the label
/// "values" of float32, the uid is the sample's name. Records are never split, as SageMaker's own
/// writers never do: its readers that put nothing between parts read them right.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::protobuf {

const WriterKind& writer_kind();

}  // namespace headrace::protobuf
