// SPDX-License-Identifier: Apache-2.0
/// \file A comparison as the JSON object of `--json` and results.json. Pure.
///
/// The fields are listed in COMPARE.md; they are added to, never removed.
#pragma once

#include <nlohmann/json.hpp>

#include "headrace/advisor/comparison.h"

namespace headrace::advisor {

/// Of a row the measured fields are null unless its status is ok.
nlohmann::ordered_json to_json(const Comparison& comparison);

}  // namespace headrace::advisor
