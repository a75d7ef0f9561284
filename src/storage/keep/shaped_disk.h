// SPDX-License-Identifier: Apache-2.0
/// \file The cache's disk as slow as a medium, for measurements: EBS gp3 on a machine with NVMe.
///
/// Thread-safe. Reads wait as they would there: for their place in the request rate, for the first
/// byte, and for their bytes at the rate that all share; and nothing is in memory beforehand. All
/// else goes at the disk's own speed.
#pragma once

#include <cstdint>
#include <memory>

#include "headrace/base/clock.h"
#include "headrace/storage/keep/disk.h"
#include "headrace/storage/shaped/media.h"

namespace headrace::keep {

/// Latencies are a function of `seed` and the number of the request. The clock must outlive it.
std::unique_ptr<Disk> shape_disk(std::unique_ptr<Disk> disk, const Medium& medium, Clock& clock,
                                 std::uint64_t seed = 0);

}  // namespace headrace::keep
