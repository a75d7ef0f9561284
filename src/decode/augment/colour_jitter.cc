// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/augment/colour_jitter.h"

#include <algorithm>
#include <cmath>

namespace headrace {

namespace {

/// Pillow's RGB to L: ITU-R 601 in 16 bits.
std::uint8_t luma(std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
  return static_cast<std::uint8_t>((red * 19595U + green * 38470U + blue * 7471U + 0x8000U) >> 16U);
}

/// Pillow's Image.blend: from `base` (factor 0) over `pixel` (factor 1) and beyond; cut, not
/// rounded.
class Blend {
 public:
  explicit Blend(double factor) : factor_(static_cast<float>(factor)) {}

  std::uint8_t operator()(std::uint8_t base, std::uint8_t pixel) const {
    const auto value = static_cast<float>(base) + factor_ * static_cast<float>(pixel - base);
    return static_cast<std::uint8_t>(std::clamp(value, 0.0F, 255.0F));
  }

 private:
  float factor_;
};

void blend_with(std::uint8_t base, double factor, Canvas& canvas) {
  const Blend blend(factor);
  for (std::size_t c = 0; c < 3; ++c) {
    for (auto& value : canvas.plane(c)) value = blend(base, value);
  }
}

void contrast(double factor, Canvas& canvas) {
  std::uint64_t sum = 0;
  const auto red = canvas.plane(0);
  const auto green = canvas.plane(1);
  const auto blue = canvas.plane(2);
  for (std::size_t i = 0; i < red.size(); ++i) sum += luma(red[i], green[i], blue[i]);
  const double mean = static_cast<double>(sum) / static_cast<double>(red.size());
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): as Pillow rounds
  blend_with(static_cast<std::uint8_t>(mean + 0.5), factor, canvas);
}

void saturation(double factor, Canvas& canvas) {
  const Blend blend(factor);
  const auto red = canvas.plane(0);
  const auto green = canvas.plane(1);
  const auto blue = canvas.plane(2);
  for (std::size_t i = 0; i < red.size(); ++i) {
    const std::uint8_t grey = luma(red[i], green[i], blue[i]);
    red[i] = blend(grey, red[i]);
    green[i] = blend(grey, green[i]);
    blue[i] = blend(grey, blue[i]);
  }
}

struct Hsv {
  std::uint8_t hue, saturation, value;
};

Hsv to_hsv(std::uint8_t r, std::uint8_t g, std::uint8_t b) {
  const std::uint8_t most = std::max({r, g, b});
  const std::uint8_t least = std::min({r, g, b});
  if (most == least) return {0, 0, most};
  const auto spread = static_cast<float>(most - least);
  const float s = spread / static_cast<float>(most);
  const auto away = [&](std::uint8_t value) { return static_cast<float>(most - value) / spread; };
  float h = 0;
  if (r == most) {
    h = away(b) - away(g);
  } else if (g == most) {
    h = static_cast<float>(2.0 + double{away(r)} - double{away(b)});
  } else {
    h = static_cast<float>(4.0 + double{away(g)} - double{away(r)});
  }
  h = static_cast<float>(std::fmod(double{h} / 6.0 + 1.0, 1.0));
  return {static_cast<std::uint8_t>(double{h} * 255.0),
          static_cast<std::uint8_t>(double{s} * 255.0), most};
}

std::array<std::uint8_t, 3> to_rgb(const Hsv& hsv) {
  const std::uint8_t v = hsv.value;
  if (hsv.saturation == 0) return {v, v, v};
  const double turn = static_cast<double>(hsv.hue) * 6.0 / 255.0;
  const int sector = static_cast<int>(std::floor(turn));
  const auto f = static_cast<float>(turn - static_cast<double>(static_cast<float>(sector)));
  const auto fs = static_cast<float>(static_cast<double>(hsv.saturation) / 255.0);
  const auto shade = [&](double by) {
    return static_cast<std::uint8_t>(std::round(static_cast<double>(v) * by));
  };
  const std::uint8_t p = shade(1.0 - double{fs});
  const std::uint8_t q = shade(1.0 - double{fs * f});
  const std::uint8_t t = shade(1.0 - double{fs} * (1.0 - double{f}));
  switch (sector % 6) {
    case 0:
      return {v, t, p};
    case 1:
      return {q, v, p};
    case 2:
      return {p, v, t};
    case 3:
      return {p, q, v};
    case 4:
      return {t, p, v};
    default:
      return {v, p, q};
  }
}

void hue(double turn, Canvas& canvas) {
  // As torchvision: the fraction of a turn in 255ths, cut, added modulo 256.
  const auto by = static_cast<std::uint8_t>(static_cast<int>(turn * 255.0));
  const auto red = canvas.plane(0);
  const auto green = canvas.plane(1);
  const auto blue = canvas.plane(2);
  for (std::size_t i = 0; i < red.size(); ++i) {
    Hsv hsv = to_hsv(red[i], green[i], blue[i]);
    hsv.hue = static_cast<std::uint8_t>(hsv.hue + by);
    const auto rgb = to_rgb(hsv);
    red[i] = rgb[0];
    green[i] = rgb[1];
    blue[i] = rgb[2];
  }
}

}  // namespace

void jitter_colours(const DrawnJitter& jitter, Canvas& canvas) {
  for (const Adjust step : jitter.order) {
    switch (step) {
      case Adjust::brightness:
        if (jitter.brightness != 1) blend_with(0, jitter.brightness, canvas);
        break;
      case Adjust::contrast:
        if (jitter.contrast != 1) contrast(jitter.contrast, canvas);
        break;
      case Adjust::saturation:
        if (jitter.saturation != 1) saturation(jitter.saturation, canvas);
        break;
      case Adjust::hue:
        if (jitter.hue != 0) hue(jitter.hue, canvas);
        break;
    }
  }
}

}  // namespace headrace
