// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/augment/warp.h"

#include <algorithm>
#include <cmath>

namespace headrace {

namespace {

constexpr int kUnit = 32;        // a pixel
constexpr double kScale = 1024;  // of the coordinates before they are cut to 32nds
constexpr int kHalfUnit = 1024 / kUnit / 2;

int rounded(double value) { return static_cast<int>(std::lrint(value)); }

/// A part of a picture, and fill around the whole picture.
class Source {
 public:
  Source(std::span<const std::uint8_t> plane, const Box& box) : plane_(plane), box_(box) {}

  int at(int x, int y) const {
    const auto column = static_cast<std::uint32_t>(x) - box_.left;
    const auto line = static_cast<std::uint32_t>(y) - box_.top;
    if (column >= box_.width || line >= box_.height) return Warp::kFill;
    return plane_[std::size_t{line} * box_.width + column];
  }

 private:
  std::span<const std::uint8_t> plane_;
  const Box& box_;
};

}  // namespace

Warp::Warp(const std::array<float, 6>& forward) {
  std::array<double, 6> m{};
  std::copy(forward.begin(), forward.end(), m.begin());
  double scale = m[0] * m[4] - m[1] * m[3];
  scale = scale != 0 ? 1.0 / scale : 0;
  inverse_[0] = m[4] * scale;
  inverse_[4] = m[0] * scale;
  inverse_[1] = m[1] * -scale;
  inverse_[3] = m[3] * -scale;
  inverse_[2] = -inverse_[0] * m[2] - inverse_[1] * m[5];
  inverse_[5] = -inverse_[3] * m[2] - inverse_[4] * m[5];
}

Warp::Place Warp::place(std::uint32_t x, std::uint32_t y) const {
  const auto along = [&](std::size_t row) {
    const int line = rounded((inverse_[row + 1] * y + inverse_[row + 2]) * kScale) + kHalfUnit;
    return (line + rounded(inverse_[row] * x * kScale)) >> 5;
  };
  return {along(0), along(3)};
}

Box Warp::source_of(const Box& window, std::uint32_t width, std::uint32_t height) const {
  // The place grows or falls along each axis, so the corners hold the extremes.
  const std::array<Place, 4> corners{
      place(window.left, window.top), place(window.left + window.width - 1, window.top),
      place(window.left, window.top + window.height - 1),
      place(window.left + window.width - 1, window.top + window.height - 1)};
  const auto span = [&](int Place::*axis, std::uint32_t size) {
    const auto [least, most] =
        std::minmax_element(corners.begin(), corners.end(),
                            [&](const Place& a, const Place& b) { return a.*axis < b.*axis; });
    const auto bound = static_cast<int>(size);
    const int begin = std::clamp((*least).*axis >> 5, 0, bound);
    const int end = std::clamp(((*most).*axis >> 5) + 2, begin, bound);
    return std::pair(static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin));
  };
  const auto [left, across] = span(&Place::x, width);
  const auto [top, down] = span(&Place::y, height);
  return {left, top, across, down};
}

void Warp::run(const Canvas& from, const Box& source, const Box& window, bool flip,
               Canvas& to) const {
  to.reset(window.width, window.height);
  for (std::size_t c = 0; c < 3; ++c) {
    const Source pixels(from.plane(c), source);
    auto out = to.plane(c).begin();
    for (std::uint32_t y = 0; y < window.height; ++y) {
      for (std::uint32_t i = 0; i < window.width; ++i) {
        const std::uint32_t x = flip ? window.width - 1 - i : i;
        const Place at = place(window.left + x, window.top + y);
        const int px = at.x >> 5;
        const int py = at.y >> 5;
        const int fx = at.x & (kUnit - 1);
        const int fy = at.y & (kUnit - 1);
        const int above = pixels.at(px, py) * (kUnit - fx) + pixels.at(px + 1, py) * fx;
        const int below = pixels.at(px, py + 1) * (kUnit - fx) + pixels.at(px + 1, py + 1) * fx;
        // Weights of 1024ths: the 15 bits of OpenCV are these, 32 times.
        *out++ = static_cast<std::uint8_t>((above * (kUnit - fy) + below * fy + 512) >> 10);
      }
    }
  }
}

}  // namespace headrace
