// SPDX-License-Identifier: Apache-2.0
/// \file A data set written as TFRecord: `NAME-00000-of-00004.tfrecord`, a tf.Example a sample.
///
/// Labels count from 0. Compression "gzip" or "zlib" is around the whole file, as TensorFlow's.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::tfrecord {

const WriterKind& writer_kind();

}  // namespace headrace::tfrecord
