// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "headrace/decode/resize.h"

namespace headrace {

namespace {

double sinc(double x) {
  if (x == 0.0) return 1.0;
  x *= std::numbers::pi;
  return std::sin(x) / x;
}

double weight(Filter filter, double x) {
  constexpr double kA = -0.5;  // of the bicubic family
  switch (filter) {
    case Filter::nearest:
    case Filter::box:
      return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
    case Filter::bilinear:
      x = std::fabs(x);
      return x < 1.0 ? 1.0 - x : 0.0;
    case Filter::hamming:
      x = std::fabs(x);
      if (x == 0.0) return 1.0;
      if (x >= 1.0) return 0.0;
      x *= std::numbers::pi;
      return std::sin(x) / x * (0.54 + 0.46 * std::cos(x));
    case Filter::bicubic:
      x = std::fabs(x);
      if (x < 1.0) return ((kA + 2.0) * x - (kA + 3.0)) * x * x + 1;
      if (x < 2.0) return (((x - 5) * x + 8) * x - 4) * kA;
      return 0.0;
    case Filter::lanczos:
      return x >= -3.0 && x < 3.0 ? sinc(x) * sinc(x / 3) : 0.0;
  }
  return 0.0;
}

double support_of(Filter filter) {
  switch (filter) {
    case Filter::nearest:
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
  return 0.0;
}

std::int32_t fixed(double value) {
  constexpr double kOne = 1 << ResizeTable::kBits;
  return static_cast<std::int32_t>((value < 0 ? -0.5 : 0.5) + value * kOne);
}

}  // namespace

// The order of the operations is Pillow's: the doubles must come out the same.
void ResizeTable::fill(Filter filter, std::uint32_t source, std::uint32_t scaled,
                       std::uint32_t begin, std::uint32_t size) {
  const double scale = static_cast<double>(source) / scaled;
  const double filter_scale = std::max(scale, 1.0);
  const double support = support_of(filter) * filter_scale;
  const double inverse = 1.0 / filter_scale;
  taps = static_cast<std::uint32_t>(std::ceil(support)) * 2 + 1;
  first.resize(size);
  count.resize(size);
  weights.assign(std::size_t{size} * taps, 0);
  scratch.resize(taps);
  for (std::uint32_t i = 0; i < size; ++i) {
    const double center = (begin + i + 0.5) * scale;
    const auto from = static_cast<std::int64_t>(std::max(center - support + 0.5, 0.0));
    const auto to = std::min(static_cast<std::int64_t>(center + support + 0.5),
                             static_cast<std::int64_t>(source));
    const auto samples = static_cast<std::uint32_t>(std::max<std::int64_t>(to - from, 0));
    double sum = 0.0;
    for (std::uint32_t t = 0; t < samples; ++t) {
      const auto at = static_cast<double>(t + from);
      scratch[t] = weight(filter, (at - center + 0.5) * inverse);
      sum += scratch[t];
    }
    first[i] = static_cast<std::uint32_t>(from);
    count[i] = samples;
    for (std::uint32_t t = 0; t < samples; ++t) {
      const double share = sum != 0.0 ? scratch[t] / sum : scratch[t];
      weights[std::size_t{i} * taps + t] = fixed(share);
    }
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
