// SPDX-License-Identifier: Apache-2.0
/// \file Members with holes, as GNU tar writes them: in its own form and in the three of pax.
///
/// Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::tar {

struct Run {
  std::uint64_t offset = 0;  ///< in the member
  std::uint64_t bytes = 0;
};

/// What stands in the data, run behind run; all else is zeros.
struct SparseMap {
  std::uint64_t size = 0;  ///< of the member
  std::vector<Run> runs;
  bool map_in_data = false;  ///< pax 1.0: the runs stand in front of the data
};

/// Of a GNU header: its first runs. Whether a block with more follows.
Result<bool> parse_gnu_sparse(ByteSpan header, SparseMap& map);
/// Of a block that follows one. Whether one more follows.
Result<bool> parse_gnu_more(ByteSpan block, SparseMap& map);
/// Of all records of a pax header; nothing if they tell of no holes.
Result<std::optional<SparseMap>> parse_pax_sparse(
    const std::vector<std::pair<std::string_view, std::string_view>>& records);

/// The member with its holes. `corrupt` if map and data do not agree, or it is absurdly large.
Result<Bytes> expand(const SparseMap& map, const Bytes& data);

}  // namespace headrace::tar
