// SPDX-License-Identifier: Apache-2.0
/// \file What is waited for that another program must do, said on stderr, also where that is no
/// terminal: a job that stands still in silence looks as if it hung. Thread-safe.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace headrace::app {

/// A progress line that stands there is written over, and comes again below.
inline void say_waiting(const std::string& what) {
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  fmt::print(stderr, "{}headrace: {}\n", terminal ? "\r\x1b[K" : "", what);
}

}  // namespace headrace::app
