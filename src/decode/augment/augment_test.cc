// SPDX-License-Identifier: Apache-2.0
// What Pillow 12.1 and OpenCV 4.7 made of the same pictures (tests/tools/make_augment_goldens.py).
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <sstream>
#include <string>

#include "headrace/base/sha256.h"
#include "headrace/decode/augment/canvas.h"
#include "headrace/decode/augment/colour_jitter.h"
#include "headrace/decode/augment/hls.h"
#include "headrace/decode/augment/warp.h"

namespace headrace {
namespace {

/// The same numbers as in the tool, the part `box` of a picture of that width.
void made_up(Canvas& canvas, const Box& box, std::uint32_t width, std::uint32_t seed) {
  canvas.reset(box.width, box.height);
  for (std::uint32_t y = 0; y < box.height; ++y) {
    for (std::uint32_t x = 0; x < box.width; ++x) {
      const std::size_t pixel = std::size_t{box.top + y} * width + box.left + x;
      for (std::size_t c = 0; c < 3; ++c) {
        auto value = static_cast<std::uint32_t>(pixel * 3 + c + std::uint64_t{seed} * 1000003);
        value *= 0x9E3779B1U;
        value ^= value >> 15U;
        value *= 0x85EBCA77U;
        value ^= value >> 13U;
        value &= 255U;
        if (seed % 2 == 1) value = value < 128 ? 0 : 255;
        canvas.plane(c)[std::size_t{y} * box.width + x] = static_cast<std::uint8_t>(value);
      }
    }
  }
}

std::string sha256(const Canvas& canvas) {
  std::vector<std::uint8_t> rgb(canvas.pixels() * 3);
  for (std::size_t i = 0; i < rgb.size(); ++i) rgb[i] = canvas.plane(i % 3)[i / 3];
  return sha256_hex(std::as_bytes(std::span(rgb)));
}

/// Calls `check` with each line; how many there were.
int for_goldens(const std::string& name, const std::function<void(std::istream&)>& check) {
  std::ifstream file(HEADRACE_TEST_DATA "/augment/" + name + ".tsv");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    check(fields);
    EXPECT_TRUE(fields) << line;
    ++lines;
  }
  return lines;
}

TEST(Augment, JitterIsPillows) {
  const int lines = for_goldens("jitter", [](std::istream& line) {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t seed = 0;
    DrawnJitter jitter;
    std::string expected;
    line >> width >> height >> seed >> jitter.brightness >> jitter.contrast >> jitter.saturation >>
        jitter.hue >> expected;
    Canvas canvas;
    made_up(canvas, {0, 0, width, height}, width, seed);
    jitter_colours(jitter, canvas);
    EXPECT_EQ(sha256(canvas), expected) << "seed " << seed;
  });
  EXPECT_EQ(lines, 40);
}

TEST(Augment, JitterGoesInTheDrawnOrder) {
  DrawnJitter jitter;
  jitter.brightness = 1.7;
  jitter.contrast = 0.4;
  Canvas one;
  Canvas other;
  made_up(one, {0, 0, 20, 20}, 20, 2);
  made_up(other, {0, 0, 20, 20}, 20, 2);
  jitter_colours(jitter, one);
  std::swap(jitter.order[0], jitter.order[1]);
  jitter_colours(jitter, other);
  EXPECT_NE(sha256(one), sha256(other));
}

TEST(Augment, FactorsOfOneChangeNothing) {
  Canvas canvas;
  made_up(canvas, {0, 0, 20, 20}, 20, 2);
  const auto before = sha256(canvas);
  jitter_colours({}, canvas);
  EXPECT_EQ(sha256(canvas), before);
}

TEST(Augment, HlsIsOpenCvs) {
  const int lines = for_goldens("hls", [](std::istream& line) {
    std::array<int, 3> before{};
    std::array<int, 3> after{};
    HlsShift shift;
    line >> before[0] >> before[1] >> before[2] >> shift.hue >> shift.lightness >>
        shift.saturation >> after[0] >> after[1] >> after[2];
    Canvas canvas;
    canvas.reset(1, 1);
    for (std::size_t c = 0; c < 3; ++c) {
      canvas.plane(c)[0] = static_cast<std::uint8_t>(before[c]);
    }
    shift_hls(shift, canvas);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(canvas.plane(c)[0], after[c]);
  });
  EXPECT_GT(lines, 900);
}

// Only the part of the source that the window needs is given, as the decoder does.
TEST(Augment, WarpIsOpenCvs) {
  const int lines = for_goldens("warp", [](std::istream& line) {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::uint32_t seed = 0;
    std::array<float, 6> map{};
    Box window;
    std::string expected;
    line >> width >> height >> seed;
    for (auto& value : map) line >> value;
    line >> window.left >> window.top >> window.width >> window.height >> expected;
    const Warp warp(map);
    const Box source = warp.source_of(window, width, height);
    Canvas from;
    Canvas to;
    made_up(from, source, width, seed);
    warp.run(from, source, window, false, to);
    EXPECT_EQ(sha256(to), expected) << "seed " << seed;
    Canvas mirrored;
    warp.run(from, source, window, true, mirrored);
    for (std::uint32_t y = 0; y < window.height; ++y) {
      for (std::uint32_t x = 0; x < window.width; ++x) {
        ASSERT_EQ(mirrored.row(y)[1][x], to.row(y)[1][window.width - 1 - x]);
      }
    }
  });
  EXPECT_EQ(lines, 60);
}

TEST(Augment, AWarpOfNothingIsFill) {
  const Warp warp({1, 0, 5000, 0, 1, 0});  // far to the right
  const Box window{0, 0, 4, 3};
  const Box source = warp.source_of(window, 100, 100);
  EXPECT_EQ(source.width, 0U);
  Canvas from;
  from.reset(source.width, source.height);
  Canvas to;
  warp.run(from, source, window, false, to);
  for (const auto value : to.plane(2)) EXPECT_EQ(value, Warp::kFill);
}

}  // namespace
}  // namespace headrace
