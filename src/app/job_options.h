// SPDX-License-Identifier: Apache-2.0
/// \file The options that every command which delivers data shares, by one name everywhere.
///
/// Example:
///
///     JobArguments arguments;
///     add_job_options(*command, arguments);
///     …
///     HEADRACE_TRY(const JobOptions job, arguments.to_options());
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "headrace/job/job.h"

namespace headrace::app {

/// As typed; what is not a text of its own is checked by the parser.
struct JobArguments {
  JobOptions job;
  std::vector<std::string> uris;
  std::string mode;
  std::string snapshot;
  std::string shuffle = "global";
  std::string augment;
  std::string layout = "nchw_f32";
  std::string filter = "bilinear";
  std::string pass_order = "pillow12";
  std::string jitter;
  std::string orient = "stored";
  std::string colours = "stored";
  std::string on_bad = "error";
  bool drop_last = false;
  bool wrap = false;
  bool pad = false;
  bool pin = false;
  bool no_decode = false;
  bool no_seek_index = false;
  std::uint32_t size = 0;

  Result<JobOptions> to_options() const;
};

/// `arguments` must live until the command has run.
void add_job_options(CLI::App& command, JobArguments& arguments);

/// For the command's callback. Throws the parser's error if the options do not fit each other.
void check_job_options(const JobArguments& arguments);

}  // namespace headrace::app
