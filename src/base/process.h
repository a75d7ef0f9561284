// SPDX-License-Identifier: Apache-2.0
/// \file What a program knows of itself: since when it runs, where it lies.
///
/// Thread-safe: pure reads of /proc/self.
#pragma once

#include <string>

#include "headrace/base/clock.h"
#include "headrace/base/result.h"

namespace headrace {

/// Time since this process was started, to 10 ms; the same process keeps its start over exec, so
/// a launcher's time counts too.
Result<Nanos> process_age();

/// The folder of the running program, "/usr/bin".
Result<std::string> program_folder();

}  // namespace headrace
