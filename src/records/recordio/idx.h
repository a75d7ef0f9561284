// SPDX-License-Identifier: Apache-2.0
/// \file The `.idx` beside a `.rec`: one line a record, `key<TAB>offset`. Never believed unseen.
///
/// Functions; thread-safe.
#pragma once

#include <stop_token>
#include <string>

#include "headrace/records/shard_indexer.h"
#include "headrace/storage/store.h"

namespace headrace::recordio {

/// "a/train.rec" → "a/train.idx"; without ".rec" at the end the suffix is added.
std::string idx_key(const std::string& rec_key);

/// Reads the index and holds it against the file: offsets in range, at multiples of 4, the first
/// at 0, and, for up to 64 records (the first, the last, the largest and some between), a record
/// that fills the place up to the next offset exactly. What passes and is wrong all the same is
/// `corrupt` when that record is parsed, never another record's content.
/// Keys are ignored: records are numbered by offset. Blank lines and \r are tolerated.
Result<FoundIndex> read_idx(Store& store, const ObjectInfo& rec, const std::stop_token& stop);

}  // namespace headrace::recordio
