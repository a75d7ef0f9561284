// SPDX-License-Identifier: Apache-2.0
/// \file Writes a labelled folder: `class/name.jpg`, one object a sample, many at a time.
///
/// A sample keeps the path that the source has for it. Without one it becomes
/// `class/00000041.jpg`: its number in the source, and a suffix by its content. Classes without
/// names are called by their numbers, with as many digits as keep their order. A sample needs
/// exactly one label. Folders sort by class: where the source did not, the order changes, and the
/// notice "order-changed" says so.
#pragma once

#include "headrace/records/shard_writer.h"

namespace headrace {

const WriterKind& folder_writer_kind();

}  // namespace headrace
