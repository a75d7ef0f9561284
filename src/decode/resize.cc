// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/resize.h"

#include <algorithm>
#include <cstring>

namespace headrace {

namespace {

constexpr std::int32_t kHalf = 1 << (ResizeTable::kBits - 1);

std::uint8_t clip8(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::clamp(sum >> ResizeTable::kBits, 0, 255));
}

void row_across(const ResizeTable& table, const std::uint8_t* row, std::uint8_t* out) {
  for (std::size_t i = 0; i < table.first.size(); ++i, out += 3) {
    const std::int32_t* weights = table.weights.data() + i * table.taps;
    const std::uint8_t* at = row + std::size_t{table.first[i]} * 3;
    std::int32_t red = kHalf;
    std::int32_t green = kHalf;
    std::int32_t blue = kHalf;
    for (std::uint32_t t = 0; t < table.count[i]; ++t, at += 3) {
      red += at[0] * weights[t];
      green += at[1] * weights[t];
      blue += at[2] * weights[t];
    }
    out[0] = clip8(red);
    out[1] = clip8(green);
    out[2] = clip8(blue);
  }
}

/// `bytes` samples of output row `i`, from rows of which the first is number `top`.
void row_down(const ResizeTable& table, std::size_t i, const std::uint8_t* rows, std::size_t stride,
              std::size_t top, std::size_t bytes, std::vector<std::int32_t>& sums,
              std::uint8_t* out) {
  sums.assign(bytes, kHalf);
  const std::int32_t* weights = table.weights.data() + i * table.taps;
  const std::uint8_t* row = rows + (table.first[i] - top) * stride;
  for (std::uint32_t t = 0; t < table.count[i]; ++t, row += stride) {
    std::int32_t* sum = sums.data();
    const std::int32_t weight = weights[t];
    for (std::size_t b = 0; b < bytes; ++b) sum[b] += row[b] * weight;
  }
  for (std::size_t b = 0; b < bytes; ++b) out[b] = clip8(sums[b]);
}

}  // namespace

void Resizer::resize(const RgbView& source, const ResizeGoal& goal, std::uint8_t* out,
                     std::size_t out_stride) {
  if (goal.filter == Filter::nearest) return nearest(source, goal, out, out_stride);
  const Box& window = goal.window;
  across_.fill(goal.filter, source.width, goal.width, window.left, window.width);
  if (goal.flip) across_.reverse();
  down_.fill(goal.filter, source.height, goal.height, window.top, window.height);
  const std::size_t top = down_.first.front();
  const std::size_t bottom = down_.first.back() + down_.count.back();
  const std::size_t bytes = std::size_t{window.width} * 3;
  between_.resize((bottom - top) * bytes);
  for (std::size_t y = top; y < bottom; ++y) {
    row_across(across_, source.pixels + y * source.stride, between_.data() + (y - top) * bytes);
  }
  for (std::size_t y = 0; y < window.height; ++y) {
    row_down(down_, y, between_.data(), bytes, top, bytes, sums_, out + y * out_stride);
  }
}

// Pillow adds the step again and again, so the rounding errors add up as well: kept.
void Resizer::nearest(const RgbView& source, const ResizeGoal& goal, std::uint8_t* out,
                      std::size_t out_stride) {
  const Box& window = goal.window;
  const auto pick = [](std::vector<std::uint32_t>& at, std::uint32_t from, std::uint32_t to,
                       std::uint32_t begin, std::uint32_t size) {
    at.resize(size);
    const double step = static_cast<double>(from) / to;
    double position = step * 0.5;
    for (std::uint32_t i = 0; i < begin + size; ++i, position += step) {
      if (i >= begin) at[i - begin] = std::min(static_cast<std::uint32_t>(position), from - 1);
    }
  };
  pick(across_.first, source.width, goal.width, window.left, window.width);
  if (goal.flip) std::reverse(across_.first.begin(), across_.first.end());
  pick(down_.first, source.height, goal.height, window.top, window.height);
  for (std::size_t y = 0; y < window.height; ++y) {
    const std::uint8_t* row = source.pixels + down_.first[y] * source.stride;
    std::uint8_t* to = out + y * out_stride;
    for (const std::size_t x : across_.first) {
      std::memcpy(to, row + x * 3, 3);
      to += 3;
    }
  }
}

}  // namespace headrace
