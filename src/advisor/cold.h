// SPDX-License-Identifier: Apache-2.0
/// \file Files put out of the page cache, and proof of it. Thread-safe.
///
/// Each file is dropped (posix_fadvise DONTNEED) and looked at (mincore); if pages stayed, it is
/// written back (fsync) and dropped again. Pages that stay then, because somebody maps them, make
/// the row `warm`. What mincore does not see, such as the cache of a remote server or of a disk
/// itself, is not claimed.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "headrace/advisor/row.h"

namespace headrace::advisor {

/// Files, or folders with all that lies in them. `unverified` if there is nothing to look at, if a
/// path is missing, or if a file may not be read; `cancelled` is told by `stop` itself.
Cold make_cold(const std::vector<std::string>& paths, const std::stop_token& stop);

}  // namespace headrace::advisor
