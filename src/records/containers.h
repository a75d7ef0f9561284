// SPDX-License-Identifier: Apache-2.0
/// \file Which objects below a root are containers of one format, and what begins an object.
///
/// Functions; thread-safe.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/storage/store.h"

namespace headrace {

/// Enough for the magic of every format that we know.
inline constexpr std::uint64_t kFirstBytes = 512;

/// The first bytes of an object: kFirstBytes, or all of it.
Result<Bytes> first_bytes(Store& store, const ObjectInfo& object, const std::stop_token& stop);

/// True for what stands beside containers and is none: `.idx`, `.lst`, `.txt`, `.json`, ….
bool is_side_file(std::string_view key);

struct ContainerKind {
  std::string what;  ///< for messages: "RecordIO file"
  /// Objects whose keys end so are containers, even if their head is damaged.
  std::vector<std::string> suffixes;
  std::function<bool(ByteSpan)> begins;  ///< whether an object begins as one
  /// Base name of an object that stands for a whole set, "index.json", though it would else be
  /// taken for what stands beside one. It is held against `begins`, too. May be empty.
  std::string marker;

  /// Name of the format whose framing it shares: a file of that framing is of this format if its
  /// content or its suffix says so. May be empty.
  std::string within;

  bool has_suffix(std::string_view key) const;
  bool is_marker(std::string_view key) const;
};

/// Containers below the root, sorted by key bytes. What is none leaves the notice "not-a-shard",
/// and names (…-00000-of-00004) that promise more than there are the notice "shards-missing".
///  * `not_found`   there is none
///  * `invalid`     one is archived
Result<std::vector<ObjectInfo>> find_containers(Store& store, const Context& context,
                                                const ContainerKind& kind,
                                                const std::stop_token& stop);

}  // namespace headrace
