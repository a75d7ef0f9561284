// SPDX-License-Identifier: Apache-2.0
/// \file That what mode direct read is the set: a copy on a disk is whatever somebody put there.
///
/// Rows of other modes read the source, and their digests must be the copy's
/// (comparison.h, disagreements). Where there is no such row, the source is read once for it.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "headrace/advisor/comparison.h"
#include "headrace/advisor/runner.h"

namespace headrace::advisor {

/// Adds a sentence to `found` for each copy that is another set, or of which it is not known; the
/// source's digest goes into table.sets. Only `cancelled` is an error.
Result<void> prove_copies(Table& table, const RunnerOptions& options,
                          std::vector<std::string>& found, const std::stop_token& stop);

}  // namespace headrace::advisor
