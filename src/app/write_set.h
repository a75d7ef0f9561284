// SPDX-License-Identifier: Apache-2.0
/// \file Options and work that `pack` and `convert` share: a set in, a set in another format out.
///
/// Example: cmd_convert.cc.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <stop_token>
#include <string>

#include "headrace/decode/reencode.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/dataset.h"

namespace headrace::app {

/// As typed.
struct WriteArguments {
  std::string source;
  std::string out;
  std::string part;
  std::string on_bad = "error";
  OpenOptions open;
  ConvertOptions convert;
  ReencodeOptions reencode;
  bool json = false;
};

// `arguments` must live until the command has run.

/// source, --out, --shards, --shard-size, --jobs, --force, --on-bad, --source-format, …
void add_write_options(CLI::App& command, WriteArguments& arguments);
/// --split, --seed, --stratify, --resize, --quality, --part, --finish
void add_change_options(CLI::App& command, WriteArguments& arguments);

/// For the command's callback. Throws the parser's error for what cannot be, whatever the source.
void check_write_options(const WriteArguments& arguments);

Result<int> write_set(const WriteArguments& arguments, const std::stop_token& stop);

}  // namespace headrace::app
