// SPDX-License-Identifier: Apache-2.0
/// \file The volume that a folder lies on: its space, and that it has what was written.
/// Thread-safe.
#pragma once

#include <cstdint>
#include <limits>
#include <stop_token>
#include <string>

#include "headrace/base/result.h"

namespace headrace::local {

struct Volume {
  std::string mounted_at;
  std::uint64_t free_bytes = 0;   ///< for this user, by its quota where that is less
  std::uint64_t block_bytes = 1;  ///< files take whole ones
  /// Files that can be made; some file systems do not count them.
  std::uint64_t free_files = std::numeric_limits<std::uint64_t>::max();
};

/// What files take.
struct Need {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};

/// The folder need not exist yet: then of the nearest one above it that does.
Result<Volume> volume_of(const std::string& folder);

/// `exhausted`, with the volume, both numbers and what to do.
Result<void> check_space(const Volume& volume, const Need& need, const std::string& remedy);

/// What was written to the volume of `fd` is on its disk. A process whose thread is inside of such
/// a call does not end before the call does, whatever it is sent; so another process makes it.
///  * cancelled   told to stop: the volume goes on writing
Result<void> sync_volume(int fd, const std::stop_token& stop);

}  // namespace headrace::local
