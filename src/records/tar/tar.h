// SPDX-License-Identifier: Apache-2.0
/// \file WebDataset tars as a data set: one or several `.tar`, each scanned once.
///
/// A sample is a run of members with one key; its payload is its picture, its label stands in its
/// `cls` or `json`. Shards are sorted by key bytes, samples are in file order. Class names, if
/// `pack` left them, stand in `NAME.classes.txt` beside the shard, or in `classes.txt`. Compressed
/// tars are unpacked into scratch, with the notice "unpacked": when the set is opened, or, if its
/// index was kept, each when it is first read.
#pragma once

#include <memory>

#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"

namespace headrace {

/// True if the bytes are the beginning of a tar, or of a compressed one as far as that can be told
/// (bzip2 and xz tell it too late; such are known by their names). 512 of them are needed.
bool is_tar(ByteSpan first_bytes);

/// How such files are found.
ContainerKind tar_kind();

/// The shards are the objects below the root that begin as a tar does, whatever their names.
///  * `not_found`   there is none, or none holds a sample
///  * `exhausted`   a compressed one holds absurdly much, or the scratch disk is full
Result<std::unique_ptr<Dataset>> open_tar(Store& store, const Context& context,
                                          const OpenOptions& options);

}  // namespace headrace
