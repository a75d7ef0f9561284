// SPDX-License-Identifier: Apache-2.0
/// \file The whole of `headrace compare`: looks at the sets, runs the tables, prices, recommends.
///
/// Example: app/cmd_compare.cc.
#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "headrace/advisor/comparison.h"
#include "headrace/advisor/runner.h"

namespace headrace::advisor {

struct CompareOptions {
  std::string version;
  RunnerOptions runner;  ///< its server_data is taken from the spec
  /// What a URI holds: look_at_set, or a test's answer.
  std::function<Result<SetInfo>(const std::string& uri, const OpenOptions&, const std::stop_token&)>
      look;
};

/// Runs the spec's program that makes what an experiment needs; nothing if it names none.
Result<void> prepare(const CompareSpec& spec, const std::stop_token& stop);

/// Whether there are media and prices of the names that the spec gives; `compare` asks it first.
///  * `invalid`   a medium or an instance that is not in its file; the files' own errors
Result<void> check_names(const CompareSpec& spec);

/// An error if a set cannot be opened at all, if a medium has no such name, if the instance has no
/// price, or on a stop. Rows that failed and digests that differ are in the comparison.
Result<Comparison> compare(const CompareSpec& spec, const CompareOptions& options,
                           const std::stop_token& stop);

}  // namespace headrace::advisor
