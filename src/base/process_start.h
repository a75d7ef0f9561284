// SPDX-License-Identifier: Apache-2.0
/// \file How long this process has been running, from the moment the system started it: program
/// loading and static initialisation count, as they do for whoever waits. Thread-safe.
#pragma once

namespace headrace {

/// Seconds since the start time in /proc/self/stat, whose resolution is a clock tick (10 ms).
double seconds_since_process_start();

}  // namespace headrace
