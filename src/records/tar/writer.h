// SPDX-License-Identifier: Apache-2.0
/// \file Writes WebDataset tars: `STEM.tar`, a picture and its label a sample.
///
/// Members are ustar with a pax header where a name does not fit, times and owners are zero, and
/// the end is filled up to 10,240 bytes, as tar does it: the same samples make the same bytes.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::tar {

const WriterKind& writer_kind();

}  // namespace headrace::tar
