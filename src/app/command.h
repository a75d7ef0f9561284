// SPDX-License-Identifier: Apache-2.0
/// \file What every command shares: how it is added, how it ends, where it may print.
///
/// A command adds itself to the parser and leaves what to run in `Invocation`. Exit codes:
/// 0 everything asked was done, 1 failure, 2 usage, 130 stopped by Ctrl-C. Messages go to
/// stderr, results to stdout; with --json stdout holds only JSON.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::app {

struct Invocation {
  /// Set by the chosen subcommand's callback; returns the exit code, or an error to be printed.
  std::function<Result<int>(const std::stop_token&)> run;
};

void add_bench_decode(CLI::App& root, Invocation& invocation);
void add_compare(CLI::App& root, Invocation& invocation);
void add_convert(CLI::App& root, Invocation& invocation);
void add_fetch(CLI::App& root, Invocation& invocation);
void add_inspect(CLI::App& root, Invocation& invocation);
void add_keep(CLI::App& root, Invocation& invocation);
void add_mount(CLI::App& root, Invocation& invocation);
void add_pack(CLI::App& root, Invocation& invocation);
void add_pipe(CLI::App& root, Invocation& invocation);
void add_read(CLI::App& root, Invocation& invocation);
void add_train(CLI::App& root, Invocation& invocation);
void add_verify(CLI::App& root, Invocation& invocation);
void add_version(CLI::App& root, Invocation& invocation);

/// Whether `headrace read` would take these words behind its name; nothing is opened.
Result<void> check_read(std::vector<std::string> words);

}  // namespace headrace::app
