// SPDX-License-Identifier: Apache-2.0
/// \file Every format that we know: how a set of it is known, opened and written.
///
/// Functions; thread-safe. Adding a format is one row in formats.cc.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include "headrace/base/context.h"
#include "headrace/records/containers.h"
#include "headrace/records/dataset.h"
#include "headrace/records/shard_writer.h"
#include "headrace/storage/store.h"

namespace headrace {

struct Format {
  std::string_view name;  ///< "recordio": as --format has it
  /// How it is found from content; `begins` is empty where nothing but its absence tells.
  ContainerKind kind;
  Result<std::unique_ptr<Dataset>> (*open)(Store& store, const Context& context,
                                           const OpenOptions& options) = nullptr;
  const WriterKind* writer = nullptr;  ///< null: read only
};

/// In the order in which content is held against them: the stricter test stands first.
std::span<const Format> formats();

/// Null if there is none of this name.
const Format* find_format(std::string_view name);

/// The format of what lies in the store, found from content: a marker, the first bytes of few
/// objects, a name; else "folder". Never null. Lists and reads.
Result<const Format*> recognise_format(Store& store, const std::stop_token& stop);

/// "folder, recordio, …", for messages and help; `written`: those that can be written.
std::string format_names(bool written = false);

}  // namespace headrace
