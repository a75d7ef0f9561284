// SPDX-License-Identifier: Apache-2.0
/// \file A comparison as text for a terminal: a table for each set, and the choice. Pure.
#pragma once

#include <string>

#include "headrace/advisor/comparison.h"

namespace headrace::advisor {

std::string to_text(const Comparison& comparison);

/// "12,345,678".
std::string with_commas(std::uint64_t number);

}  // namespace headrace::advisor
