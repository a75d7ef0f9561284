// SPDX-License-Identifier: Apache-2.0
/// \file What a labelled folder calls the samples of any set: said once, for who writes such a
/// folder (writer.h) and for who shows a set as one (inside/).
///
/// Functions; thread-safe. Rules in FORMAT.md.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/base/result.h"
#include "headrace/records/shard_writer.h"

namespace headrace {

/// The path below the folder's root, "cat/7.jpg": the one that the source has for the sample, else
/// its number in the source and a suffix by its content. `classes` are the names of the labels.
///  * `invalid`   not one label, no class of the set, or a name that readers of folders leave out
Result<std::string> folder_file(const std::vector<std::string>& classes, const OutSample& sample);

Error same_folder_file(std::string_view file);

/// Folders sort by name: notice "order-changed", if the samples of a set do not stand so.
void note_order(Notices& notices, std::string_view file, std::string_view before);

/// A folder numbers its classes anew, those that have samples: notice "labels-changed", if that
/// gives one of these `labels` another number.
void note_labels(Notices& notices, const std::vector<std::string>& classes,
                 const std::set<std::uint64_t>& labels);

}  // namespace headrace
