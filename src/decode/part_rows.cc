// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/part_rows.h"

#include <algorithm>

namespace headrace {

void ProfileRows::row(const std::array<const std::uint8_t*, 3>& planes) {
  join_rgb(planes, width_, line_.data());
  pass_on();
}

void ProfileRows::rgb_row(const std::uint8_t* rgb) {
  std::copy_n(rgb, line_.size(), line_.data());
  pass_on();
}

void ProfileRows::pass_on() {
  profile_.to_srgb(line_.data(), width_);
  next_.rgb_row(line_.data());
}

TurnedRows::TurnedRows(unsigned orientation, std::uint32_t width, std::uint32_t height,
                       std::vector<std::uint8_t>& memory, PartRows& next)
    : orientation_(orientation), width_(width), height_(height), memory_(memory), next_(next) {
  // The part, and one line of the turned one.
  memory_.resize((std::size_t{width} * height + std::max(width, height)) * 3);
}

void TurnedRows::row(const std::array<const std::uint8_t*, 3>& planes) {
  join_rgb(planes, width_, memory_.data() + std::size_t{held_++} * width_ * 3);
}

void TurnedRows::rgb_row(const std::uint8_t* rgb) {
  const std::size_t bytes = std::size_t{width_} * 3;
  std::copy_n(rgb, bytes, memory_.data() + held_++ * bytes);
}

void TurnedRows::finish() {
  const Turned turned(orientation_, width_, height_);
  std::uint8_t* const line = memory_.data() + std::size_t{width_} * height_ * 3;
  for (std::uint32_t y = 0; y < turned.height(); ++y) {
    for (std::uint32_t x = 0; x < turned.width(); ++x) {
      const Box at = turned.from({x, y, 1, 1});
      const auto* const pixel = memory_.data() + (std::size_t{at.top} * width_ + at.left) * 3;
      std::copy_n(pixel, 3, line + std::size_t{x} * 3);
    }
    next_.rgb_row(line);
  }
  next_.finish();
}

}  // namespace headrace
