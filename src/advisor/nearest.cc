// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace headrace::advisor {
namespace {

/// Letters to change, add or leave out to make a into b.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const auto above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string_view> nearest(std::string_view given,
                                        std::span<const std::string_view> known) {
  const auto found = *std::min_element(known.begin(), known.end(), [&](auto a, auto b) {
    return distance(given, a) < distance(given, b);
  });
  if (distance(given, found) <= 2 || found.starts_with(given)) return found;
  return std::nullopt;
}

}  // namespace headrace::advisor
