// SPDX-License-Identifier: Apache-2.0
/// \file Runs the rows of a table: each mode in a process of its own, repeats interleaved.
///
/// For repeat r, for each set, for each mode: the files are made cold, `headrace read` is started,
/// timed from its start to its end, and what it prints is kept. So slow drifts of the machine
/// fall on all modes alike. What a mode writes (a copy, a cache) is in a folder of its own that is
/// new for each run and removed after it.
///
/// Thread-safe: no state. A mode that cannot run on a set is a row with the reason.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/advisor/comparison.h"

namespace headrace::advisor {

struct Progress {
  std::string label;  ///< "keep on recordio"
  unsigned repeat = 0;
  unsigned repeats = 0;
  std::size_t done = 0;  ///< runs of this table that are over
  std::size_t all = 0;
};

struct RunnerOptions {
  std::vector<std::string> program;      ///< what runs one mode: {"/proc/self/exe", "read"}
  std::vector<std::string> server_data;  ///< made cold before each run
  std::function<void(const Progress&)> on_run = nullptr;  ///< before each run; may be empty
};

/// One row for each set and mode, in that order. A mode that fails is a row that says so; an error
/// is only what hinders all of them: `cancelled`, or no room for scratch files.
/// REQUIRES: sets.size() == table.sets.size()
Result<std::vector<Row>> run_table(const TableSpec& table, const std::vector<SetInfo>& sets,
                                   const RunnerOptions& options, const std::stop_token& stop);

/// Reads a set once where it is kept, without pixels: one epoch, as the table's rows read it.
Result<Measurement> read_source(const TableSpec& table, const SetSpec& set,
                                const RunnerOptions& options, const std::stop_token& stop);

/// The last thing that a failed program said, without its name: what it wants to tell.
std::string last_words(std::string_view err);

}  // namespace headrace::advisor
