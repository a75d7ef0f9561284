// SPDX-License-Identifier: Apache-2.0
/// \file Writes pictures into class folders: `KEY/cat/7.jpg`.
///
/// A folder knows its labels by the names of its classes alone, so each class must have a sample,
/// and a sample one label; without names the classes are called by their numbers. Order is that of
/// the paths: samples of a source that is not sorted by class come in another one.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace::folder {

const WriterKind& writer_kind();

}  // namespace headrace::folder
