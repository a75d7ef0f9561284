// SPDX-License-Identifier: Apache-2.0
/// \file A comparison as one HTML page that opens offline, and results.json beside it.
#pragma once

#include <string>

#include "headrace/advisor/comparison.h"

namespace headrace::advisor {

/// The whole page: style, script, charts library and figures are all in it. Pure.
std::string to_html(const Comparison& comparison);

/// Writes `path`, and results.json in the same folder, which is made if it is missing. Each is
/// written under another name and renamed, so that a reader never sees half of one.
Result<void> write_report(const Comparison& comparison, const std::string& path);

}  // namespace headrace::advisor
