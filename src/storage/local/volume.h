// SPDX-License-Identifier: Apache-2.0
/// \file Space on the volume that a folder lies on. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/base/result.h"

namespace headrace::local {

struct Volume {
  std::string mounted_at;
  std::uint64_t free_bytes = 0;   ///< for this user
  std::uint64_t block_bytes = 1;  ///< files take whole ones
};

/// The folder need not exist yet: then of the nearest one above it that does.
Result<Volume> volume_of(const std::string& folder);

/// `exhausted`, with the volume, both numbers and what to do.
Result<void> check_space(const Volume& volume, std::uint64_t bytes_needed,
                         const std::string& remedy);

}  // namespace headrace::local
