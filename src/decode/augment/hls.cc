// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/augment/hls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headrace {

namespace {

constexpr int kMostHue = 180;

/// To the nearest, halves to the even number.
int rounded(float value) { return static_cast<int>(std::lrintf(value)); }

struct Hls {
  int hue = 0, lightness = 0, saturation = 0;
};

Hls to_hls(std::array<float, 3> rgb) {
  const auto [r, g, b] = rgb;
  const float most = std::max({r, g, b});
  const float least = std::min({r, g, b});
  float spread = most - least;
  const float l = (most + least) * 0.5F;
  float h = 0;
  float s = 0;
  if (spread > std::numeric_limits<float>::epsilon()) {
    s = l < 0.5F ? spread / (most + least) : spread / (2.0F - most - least);
    spread = 60.0F / spread;
    if (most == r) {
      h = (g - b) * spread;
    } else if (most == g) {
      h = (b - r) * spread + 120.0F;
    } else {
      h = (r - g) * spread + 240.0F;
    }
    if (h < 0) h += 360.0F;
  }
  return {rounded(h * 0.5F), rounded(l * 255.0F), rounded(s * 255.0F)};
}

std::array<float, 3> to_rgb(const Hls& hls) {
  constexpr float kUnit = 1.0F / 255.0F;
  // Which of (p2, p1, rising, falling) red, green and blue are in each sixth of the circle.
  static constexpr std::array<std::array<std::uint8_t, 3>, 6> kSectors{
      {{0, 3, 1}, {2, 0, 1}, {1, 0, 3}, {1, 2, 0}, {3, 1, 0}, {0, 1, 2}}};
  const float l = static_cast<float>(hls.lightness) * kUnit;
  const float s = static_cast<float>(hls.saturation) * kUnit;
  if (hls.saturation == 0) return {l, l, l};
  const float p2 = l <= 0.5F ? l * (1.0F + s) : l + s - l * s;
  const float p1 = 2.0F * l - p2;
  float h = static_cast<float>(hls.hue) * (6.0F / static_cast<float>(kMostHue));
  if (h >= 6.0F) h -= 6.0F;
  const auto sector = static_cast<std::size_t>(h);
  h -= static_cast<float>(sector);
  const std::array<float, 4> levels{p2, p1, p1 + (p2 - p1) * (1.0F - h), p1 + (p2 - p1) * h};
  const auto& which = kSectors[sector];
  return {levels[which[0]], levels[which[1]], levels[which[2]]};
}

std::uint8_t byte_of(float value) {
  return static_cast<std::uint8_t>(std::clamp(rounded(value * 255.0F), 0, 255));
}

}  // namespace

void shift_hls(const HlsShift& shift, Canvas& canvas) {
  constexpr float kUnit = 1.0F / 255.0F;
  const auto red = canvas.plane(0);
  const auto green = canvas.plane(1);
  const auto blue = canvas.plane(2);
  for (std::size_t i = 0; i < red.size(); ++i) {
    Hls hls = to_hls({static_cast<float>(red[i]) * kUnit, static_cast<float>(green[i]) * kUnit,
                      static_cast<float>(blue[i]) * kUnit});
    hls.hue = std::clamp(hls.hue + shift.hue, 0, kMostHue);
    hls.lightness = std::clamp(hls.lightness + shift.lightness, 0, 255);
    hls.saturation = std::clamp(hls.saturation + shift.saturation, 0, 255);
    const auto rgb = to_rgb(hls);
    red[i] = byte_of(rgb[0]);
    green[i] = byte_of(rgb[1]);
    blue[i] = byte_of(rgb[2]);
  }
}

}  // namespace headrace
