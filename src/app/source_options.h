// SPDX-License-Identifier: Apache-2.0
/// \file How the samples of a URI are found: the options that every command which opens a data
/// set shares, and the opening.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "headrace/base/context.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/store.h"

namespace headrace::app {

// `options` must live until the command has run.

/// --root-files-skip
void add_root_files(CLI::App& command, OpenOptions& options);
/// For options that name the format of a set that is read.
CLI::Validator known_format();
/// --format, --list, --root-files-skip, and those of records/cli_reading.h
void add_source_options(CLI::App& command, OpenOptions& options);

struct Source {
  std::unique_ptr<Store> store;
  std::unique_ptr<Dataset> set;
};

Result<Source> open_source(const std::string& uri, const Context& context, OpenOptions options,
                           const std::stop_token& stop);

}  // namespace headrace::app
