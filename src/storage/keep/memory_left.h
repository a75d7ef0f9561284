// SPDX-License-Identifier: Apache-2.0
/// \file How much memory there is for a cache that lies in memory. Thread-safe: reads of /proc and
/// /sys.
#pragma once

#include <cstdint>
#include <string>

namespace headrace::keep {

/// Memory that this process can still take: what the machine has left, and each control group that
/// it is in (version 1 or 2), where that allows less. Page cache that a group can give back counts
/// as left, since a job that reads files fills its group with it.
///
/// `root` stands before the paths, for tests.
std::uint64_t memory_left(const std::string& root = "");

}  // namespace headrace::keep
