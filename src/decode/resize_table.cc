// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/resize_table.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "headrace/decode/resize_weights.h"

namespace headrace {

namespace {

constexpr std::int32_t kOne = 1 << ResizeTable::kBits;

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double box(double x) { return x > -0.5 && x <= 0.5 ? 1.0 : 0.0; }

double bilinear(double x) {
  x = std::fabs(x);
  return x < 1.0 ? 1.0 - x : 0.0;
}

double hamming(double x) {
  x = std::fabs(x);
  if (x == 0.0) return 1.0;
  if (x >= 1.0) return 0.0;
  x *= std::numbers::pi;
  constexpr double kBase = 0.54F;  // floats in Pillow
  constexpr double kSwing = 0.46F;
  return std::sin(x) / x * (kBase + kSwing * std::cos(x));
}

double bicubic(double x) {
  constexpr double kA = -0.5;
  x = std::fabs(x);
  if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
  if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
  return 0.0;
}

double lanczos(double x) { return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0; }

std::int32_t fixed(double value) {
  return static_cast<std::int32_t>((value < 0 ? -0.5 : 0.5) + value * kOne);
}

// NOLINTBEGIN(bugprone-incorrect-roundings): as Pillow rounds
std::uint32_t first_input(double center, double support) {
  return static_cast<std::uint32_t>(std::max(center - support + 0.5, 0.0));
}
std::uint32_t end_of_inputs(double center, double support, std::uint32_t source) {
  return std::min(static_cast<std::uint32_t>(center + support + 0.5), source);
}
// NOLINTEND(bugprone-incorrect-roundings)

double radius_of(Filter filter) {
  switch (filter) {
    case Filter::nearest:
      break;
    case Filter::box:
      return 0.5;
    case Filter::bilinear:
    case Filter::hamming:
      return 1.0;
    case Filter::bicubic:
      return 2.0;
    case Filter::lanczos:
      return 3.0;
  }
  return 0;
}

}  // namespace

std::pair<std::uint32_t, std::uint32_t> ResizeTable::reach(Filter filter, std::uint32_t source,
                                                           std::uint32_t scaled,
                                                           std::uint32_t begin,
                                                           std::uint32_t size) {
  if (filter == Filter::nearest) {  // adds its step again and again
    ResizeTable table;
    table.fill(filter, source, scaled, begin, size);
    return {table.begin(), table.end()};
  }
  const double scale = static_cast<double>(source) / scaled;
  const double support = radius_of(filter) * std::max(scale, 1.0);
  return {first_input((begin + 0.5) * scale, support),
          end_of_inputs((begin + size - 1 + 0.5) * scale, support, source)};
}

void ResizeTable::fill(Filter filter, std::uint32_t source, std::uint32_t scaled,
                       std::uint32_t begin, std::uint32_t size) {
  first.resize(size);
  count.resize(size);
  if (has_lanes(filter) && size >= kLeastOutputs && source <= kMostSource)
    return fill_in_lanes(filter, source, scaled, begin);
  fill_one_by_one(filter, source, scaled, begin);
}

void ResizeTable::fill_one_by_one(Filter filter, std::uint32_t source, std::uint32_t scaled,
                                  std::uint32_t begin) {
  const double radius = radius_of(filter);
  switch (filter) {  // lambdas, so that each filter is compiled into its loop
    case Filter::nearest:
      return fill_nearest(source, scaled, begin);
    case Filter::box:
      return fill_filtered([](double x) { return box(x); }, radius, source, scaled, begin);
    case Filter::bilinear:
      return fill_filtered([](double x) { return bilinear(x); }, radius, source, scaled, begin);
    case Filter::hamming:
      return fill_filtered([](double x) { return hamming(x); }, radius, source, scaled, begin);
    case Filter::bicubic:
      return fill_filtered([](double x) { return bicubic(x); }, radius, source, scaled, begin);
    case Filter::lanczos:
      return fill_filtered([](double x) { return lanczos(x); }, radius, source, scaled, begin);
  }
}

void ResizeTable::fill_in_lanes(Filter filter, std::uint32_t source, std::uint32_t scaled,
                                std::uint32_t begin) {
  const double scale = static_cast<double>(source) / scaled;
  const double filter_scale = std::max(scale, 1.0);
  const ResizeGeometry geometry{.scale = scale,
                                .filter_scale = filter_scale,
                                .support = radius_of(filter) * filter_scale,
                                .source = source,
                                .begin = begin};
  inputs_in_lanes(geometry, first, count);
  const std::uint32_t most = std::max(1U, std::ranges::max(count));
  taps = (most + 3) / 4 * 4;
  weights.assign(first.size() * taps, 0);
  scratch_.resize(std::size_t{most} * kLeastOutputs);
  weights_in_lanes(filter, geometry, first, count, most, kBits, scratch_, taps, weights.data());
}

// The order of the operations is Pillow's (precompute_coeffs, normalize_coeffs_8bpc): the doubles
// must come out the same before they are rounded.
template <class Weight>
void ResizeTable::fill_filtered(Weight weight, double radius, std::uint32_t source,
                                std::uint32_t scaled, std::uint32_t begin) {
  const double scale = static_cast<double>(source) / scaled;
  const double filter_scale = std::max(scale, 1.0);
  const double support = radius * filter_scale;
  const double inverse = 1.0 / filter_scale;
  std::uint32_t most = 1;
  for (std::uint32_t i = 0; i < outputs(); ++i) {
    const double center = (begin + i + 0.5) * scale;
    first[i] = first_input(center, support);
    const auto to = end_of_inputs(center, support, source);
    count[i] = to > first[i] ? to - first[i] : 0;
    most = std::max(most, count[i]);
  }
  taps = (most + 3) / 4 * 4;
  weights.assign(first.size() * taps, 0);
  scratch_.resize(taps);
  for (std::uint32_t i = 0; i < outputs(); ++i) {
    const double center = (begin + i + 0.5) * scale;
    double sum = 0.0;
    for (std::uint32_t t = 0; t < count[i]; ++t) {
      scratch_[t] = weight((static_cast<double>(t + first[i]) - center + 0.5) * inverse);
      sum += scratch_[t];
    }
    if (sum == 0.0) sum = 1.0;
    std::int32_t* to = weights.data() + std::size_t{i} * taps;
    for (std::uint32_t t = 0; t < count[i]; ++t) to[t] = fixed(scratch_[t] / sum);
  }
}

// Pillow adds the step again and again, so its rounding errors add up as well: kept.
void ResizeTable::fill_nearest(std::uint32_t source, std::uint32_t scaled, std::uint32_t begin) {
  taps = 4;
  weights.assign(first.size() * taps, 0);
  const double step = static_cast<double>(source) / scaled;
  double position = step * 0.5;
  for (std::uint32_t i = 0; i < begin + outputs(); ++i) {
    const double here = std::exchange(position, position + step);
    if (i < begin) continue;
    first[i - begin] = std::min(static_cast<std::uint32_t>(here), source - 1);
    count[i - begin] = 1;
    weights[std::size_t{i - begin} * taps] = kOne;
  }
}

void ResizeTable::reverse() {
  const std::size_t size = first.size();
  std::reverse(first.begin(), first.end());
  std::reverse(count.begin(), count.end());
  for (std::size_t i = 0; i < size / 2; ++i) {
    std::swap_ranges(weights.data() + i * taps, weights.data() + (i + 1) * taps,
                     weights.data() + (size - 1 - i) * taps);
  }
}

}  // namespace headrace
