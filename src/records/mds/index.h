// SPDX-License-Identifier: Apache-2.0
/// \file What `index.json` of an MDS set says: its shards and their columns. Pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/unpack/codec.h"

namespace headrace::mds {

struct Column {
  std::string name;
  std::string encoding;               ///< "int", "jpeg", "ndarray:float32:2,3", …
  std::optional<std::uint64_t> size;  ///< of every value; absent: each says its own
};

struct File {
  std::string basename;  ///< never leaves the folder of the index
  std::uint64_t bytes = 0;
  std::map<std::string, std::string> hashes;  ///< algorithm → hex digits
};

struct Shard {
  std::vector<Column> columns;  ///< in byte order of their names, as values are stored
  std::uint64_t samples = 0;
  File raw;
  std::optional<File> zip;     ///< what is stored, if it is compressed
  std::optional<Codec> codec;  ///< of zip
};

/// True if the bytes may be the beginning of such an index.
bool is_index(ByteSpan first_bytes);

/// `corrupt` or `invalid`, with the shard and what is wrong: no JSON, another version or format,
/// columns that do not fit each other, names that leave the folder, an unknown compression.
Result<std::vector<Shard>> parse_index(std::string_view json);

}  // namespace headrace::mds
