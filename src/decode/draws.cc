// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/draws.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {

namespace {

// So that no other use of a sample's key meets these.
constexpr std::uint64_t kEraseStream = 0x65726173;
constexpr std::uint64_t kJitterStream = 0x6a697474;
constexpr std::uint64_t kHlsStream = 0x686c7321;
constexpr std::uint64_t kWarpStream = 0x77617270;

Random stream(std::uint64_t which, const SampleKey& key) {
  return Random(mix_key(key.seed, which, key.epoch, key.sample_id));
}

/// e^x for |x| < 2 by its series, which only adds and multiplies: every libm gives another last
/// bit, and a box must not depend on the machine.
double exponential(double x) {
  double sum = 1.0;
  for (int n = 20; n > 0; --n) sum = 1.0 + x / n * sum;
  return sum;
}

struct Turn {
  double sine, cosine;
};

/// Of at most half a circle's tenth, by the series; for the same reason.
Turn turn_by(int degrees) {
  constexpr double kPi = 3.14159265358979323846;
  const double x = degrees / 180.0 * kPi;
  double sine = 0;
  double cosine = 0;
  for (int n = 9; n > 0; --n) {
    sine = x * x / (2.0 * n * (2.0 * n + 1.0)) * (1.0 - sine);
    cosine = x * x / ((2.0 * n - 1.0) * 2.0 * n) * (1.0 - cosine);
  }
  return {x * (1.0 - sine), 1.0 - cosine};
}

/// A box of that size, anywhere in a picture.
Box placed(Random& random, std::int64_t w, std::int64_t h, std::uint32_t width,
           std::uint32_t height) {
  Box box{0, 0, static_cast<std::uint32_t>(w), static_cast<std::uint32_t>(h)};
  box.top = static_cast<std::uint32_t>(random.below(height - box.height + 1));
  box.left = static_cast<std::uint32_t>(random.below(width - box.width + 1));
  return box;
}

/// An integer as C casts: towards 0.
int within(Random& random, int most) {
  return static_cast<int>(random.uniform(-static_cast<double>(most), static_cast<double>(most)));
}

}  // namespace

std::int64_t round_half_even(double value) { return std::llrint(value); }

Box random_box(Random& random, std::uint32_t width, std::uint32_t height) {
  constexpr double kSmallest = 0.08;
  constexpr double kLogRatio = 0.28768207245178092744;  // ln(4/3)
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(kSmallest, 1.0);
    const double aspect = exponential(random.uniform(-kLogRatio, kLogRatio));
    const auto w = round_half_even(std::sqrt(target * aspect));
    const auto h = round_half_even(std::sqrt(target / aspect));
    if (w <= 0 || w > width || h <= 0 || h > height) continue;
    return placed(random, w, h, width, height);
  }
  Box box{0, 0, width, height};
  constexpr double kNarrow = 3.0 / 4.0;
  constexpr double kWide = 4.0 / 3.0;
  const double ratio = static_cast<double>(width) / height;
  if (ratio < kNarrow) {
    box.height = static_cast<std::uint32_t>(round_half_even(width / kNarrow));
  } else if (ratio > kWide) {
    box.width = static_cast<std::uint32_t>(round_half_even(height * kWide));
  }
  box.height = std::clamp(box.height, 1U, height);
  box.width = std::clamp(box.width, 1U, width);
  box.left = (width - box.width) / 2;
  box.top = (height - box.height) / 2;
  return box;
}

Box draw_erasing(float probability, const SampleKey& key, std::uint32_t width,
                 std::uint32_t height) {
  constexpr double kLogNarrow = -1.2039728043259361;  // ln 0.3
  constexpr double kLogWide = 1.1939224684724346;     // ln 3.3
  Random random = stream(kEraseStream, key);
  if (random.uniform() >= double{probability}) return {};
  const double area = static_cast<double>(width) * height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * random.uniform(0.02, 0.33);
    const double aspect = exponential(random.uniform(kLogNarrow, kLogWide));
    const auto h = round_half_even(std::sqrt(target * aspect));
    const auto w = round_half_even(std::sqrt(target / aspect));
    if (w <= 0 || w >= width || h <= 0 || h >= height) continue;
    return placed(random, w, h, width, height);
  }
  return {};
}

DrawnJitter draw_jitter(const Jitter& jitter, const SampleKey& key) {
  Random random = stream(kJitterStream, key);
  DrawnJitter drawn;
  for (std::size_t i = drawn.order.size() - 1; i > 0; --i) {
    std::swap(drawn.order[i], drawn.order[random.below(i + 1)]);
  }
  const auto factor = [&](double by) { return random.uniform(std::max(0.0, 1.0 - by), 1.0 + by); };
  drawn.brightness = factor(double{jitter.brightness});
  drawn.contrast = factor(double{jitter.contrast});
  drawn.saturation = factor(double{jitter.saturation});
  drawn.hue = random.uniform(-double{jitter.hue}, double{jitter.hue});
  return drawn;
}

HlsShift draw_hls(const SampleKey& key) {
  Random random = stream(kHlsStream, key);
  HlsShift shift;
  shift.hue = within(random, 36);
  shift.saturation = within(random, 50);
  shift.lightness = within(random, 50);
  return shift;
}

std::array<float, 6> draw_warp(const SampleKey& key, std::uint32_t width, std::uint32_t height) {
  constexpr int kDegrees = 10;
  Random random = stream(kWarpStream, key);
  const auto shear = static_cast<float>(random.uniform(-0.1, 0.1));
  const auto turn = turn_by(static_cast<int>(random.below(2 * kDegrees + 1)) - kDegrees);
  const auto ratio = static_cast<float>(random.uniform(0.75, 1.25));
  const auto a = static_cast<float>(turn.cosine);
  const auto b = static_cast<float>(turn.sine);
  const float tall = 2.0F / (1.0F + ratio);
  const float wide = ratio * tall;
  const auto w = static_cast<float>(width);
  const auto h = static_cast<float>(height);
  std::array<float, 6> m{};
  m[0] = tall * a - shear * b * wide;
  m[1] = tall * b + shear * a * wide;
  m[3] = -b * wide;
  m[4] = a * wide;
  m[2] = (w - (m[0] * w + m[1] * h)) / 2.0F;
  m[5] = (h - (m[3] * w + m[4] * h)) / 2.0F;
  return m;
}

}  // namespace headrace
