// SPDX-License-Identifier: Apache-2.0
/// \file Opens the cache's disk without waiting for one that hangs. Thread-safe.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "headrace/storage/keep/local_disk.h"

namespace headrace::keep {

/// As open_local_disk. When that takes longer than `patience`, or a stop is asked for, a disk whose
/// calls fail, `unavailable`, until it is there.
Result<LocalDisk> open_local_disk_within(const std::string& dir, std::chrono::nanoseconds patience,
                                         const std::stop_token& stop);

}  // namespace headrace::keep
