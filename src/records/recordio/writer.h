// SPDX-License-Identifier: Apache-2.0
/// \file Writes RecordIO: `STEM.rec` with `STEM.idx` and `STEM.lst` beside it. The writer to copy.
///
/// The sample's id becomes the image id and the key of index and list; its name stands in the list.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::recordio {

const WriterKind& writer_kind();

}  // namespace headrace::recordio
