// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/stats.h"

#include <algorithm>
#include <cassert>

namespace headrace::advisor {

double median(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  if (values.size() % 2 == 1) return values[middle];
  return (values[middle - 1] + values[middle]) / 2;
}

std::optional<double> spread(const std::vector<double>& values) {
  if (values.size() < 2) return std::nullopt;
  const double middle = median(values);
  if (middle == 0) return std::nullopt;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return (*high - *low) / middle;
}

}  // namespace headrace::advisor
