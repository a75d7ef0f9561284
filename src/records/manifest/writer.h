// SPDX-License-Identifier: Apache-2.0
/// \file Writes an augmented manifest, `STEM.manifest`, and its pictures, `KEY/000000012.jpg`.
///
/// Pictures are called by their number, so that the order of paths is that of the source; the path
/// that the source has stands in the line. References are s3:// URIs in S3, else relative paths.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::manifest {

const WriterKind& writer_kind();

}  // namespace headrace::manifest
