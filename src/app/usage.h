// SPDX-License-Identifier: Apache-2.0
/// \file What a command line that cannot be parsed is told: one line as every other error, with the
/// command or option that may have been meant.
#pragma once

#include <CLI/CLI.hpp>

namespace headrace::app {

/// Prints help to stdout, or what is wrong to stderr; the exit code, 0 or 2.
int tell_usage(const CLI::App& root, const CLI::ParseError& error);

}  // namespace headrace::app
