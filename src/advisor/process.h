// SPDX-License-Identifier: Apache-2.0
/// \file One program run to its end, with what it printed and how long it took. Thread-safe.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::advisor {

struct Ended {
  int code = 0;        ///< exit code, or 128 + the signal that ended it
  std::string out;     ///< stdout
  std::string err;     ///< the last 64 KiB of stderr
  double seconds = 0;  ///< from just before its start to its end
};

/// Runs argv[0] (a path, or a name on PATH) with an empty stdin, default signals and this process's
/// environment. A stop sends SIGTERM, and SIGKILL two seconds later, and gives `cancelled`.
/// `not_found` or `denied` if it cannot be started; `exhausted` if it prints more than 16 MiB.
/// REQUIRES: argv is not empty
Result<Ended> run_process(const std::vector<std::string>& argv, const std::stop_token& stop);

}  // namespace headrace::advisor
