// SPDX-License-Identifier: Apache-2.0
/// \file The middle of some repeats, and how far apart they are. Pure.
#pragma once

#include <optional>
#include <vector>

namespace headrace::advisor {

/// The middle value; of an even number of values the mean of the two in the middle.
/// REQUIRES: values is not empty
double median(std::vector<double> values);

/// (largest - smallest) / median: how far repeats differ, as a fraction. Nothing for fewer than
/// two values, which cannot show it, or where the median is 0.
std::optional<double> spread(const std::vector<double>& values);

}  // namespace headrace::advisor
