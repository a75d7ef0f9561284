// SPDX-License-Identifier: Apache-2.0
/// \file Which mode to choose, and why, in sentences with figures. Pure.
///
/// The rule: the least total time wins. Rows whose totals differ by no more than the spread of
/// their repeats are tied ("no difference"); ties are settled by cost, where it is known and
/// differs by more than the spread, then by manageability, the smaller count. With one repeat
/// nothing shows the spread, so kAssumedSpread stands for it, and the sentences say so. Mode direct
/// on a set that is kept in S3 reads a copy: the time that file took to fetch it counts, if known.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headrace/advisor/manageability.h"
#include "headrace/advisor/row.h"

namespace headrace::advisor {

inline constexpr double kAssumedSpread = 0.1;

struct Recommendation {
  std::optional<std::string> mode;  ///< nothing if no row is ok
  std::string format;
  bool partial_reads = false;            ///< the chosen row's
  std::vector<std::string> because;      ///< speed, time, cost, manageability, what settled it
  std::optional<std::string> runner_up;  ///< the mode that the rule gives without the chosen one
};

/// Of the rows of one table: one job, on one or more forms of one set.
Recommendation recommend(const std::vector<Row>& rows, const ManageabilityBook& book);

}  // namespace headrace::advisor
