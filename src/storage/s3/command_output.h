// SPDX-License-Identifier: Apache-2.0
/// \file What a command prints, within a time.
///
/// Thread-safe.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>

#include "headrace/base/result.h"

namespace headrace::s3 {

/// Runs `command` by /bin/sh; its standard input is empty, its errors go where ours do. At most
/// 1 MiB of output.
///  * invalid: it ended with another code than 0
///  * unavailable: it did not end in time, and was killed
///  * cancelled
Result<std::string> command_output(const std::string& command, std::chrono::seconds limit,
                                   const std::stop_token& stop);

}  // namespace headrace::s3
