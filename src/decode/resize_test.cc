// SPDX-License-Identifier: Apache-2.0
// What Pillow 12.0 and 13.0 made of the same pictures (tests/tools/make_resize_goldens.py), on
// every vector unit of this machine; and every vector unit against the plain form.
#include "headrace/decode/resize.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "headrace/base/random.h"
#include "headrace/base/sha256.h"

namespace headrace {
namespace {

/// The same numbers as in the tool.
std::vector<std::uint8_t> made_up(std::uint32_t width, std::uint32_t height, std::uint32_t seed) {
  std::vector<std::uint8_t> pixels(std::size_t{width} * height * 3);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    auto x = static_cast<std::uint32_t>(i + std::uint64_t{seed} * 1000003);
    x *= 0x9E3779B1U;
    x ^= x >> 15U;
    x *= 0x85EBCA77U;
    x ^= x >> 13U;
    pixels[i] = static_cast<std::uint8_t>(x);
    if (seed % 2 == 1) pixels[i] = pixels[i] < 128 ? 0 : 255;
  }
  return pixels;
}

class Collect : public RowSink {
 public:
  explicit Collect(std::uint32_t width) : width_(width) {}
  void row(std::uint32_t y, const PlanarRow& row) override {
    EXPECT_EQ(rgb.size(), std::size_t{y} * width_ * 3);
    rgb.resize(rgb.size() + std::size_t{width_} * 3);
    join_rgb(row, width_, rgb.data() + std::size_t{y} * width_ * 3);
  }
  std::vector<std::uint8_t> rgb;

 private:
  std::uint32_t width_;
};

std::vector<std::uint8_t> resized(const std::vector<std::uint8_t>& rgb, std::uint32_t width,
                                  std::uint32_t height, const ResizeGoal& goal) {
  Resizer resizer;
  Collect sink(goal.window.width);
  resizer.resize({rgb.data(), std::size_t{width} * 3, width, height}, goal, sink);
  return sink.rgb;
}

struct Golden {
  std::uint32_t width = 0, height = 0, seed = 0, to_width = 0, to_height = 0;
  std::string filter, sha256;
};

std::vector<Golden> goldens(const std::string& name) {
  std::vector<Golden> all;
  std::ifstream file(std::string(HEADRACE_TEST_DATA "/resize/") + name);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Golden golden;
    std::istringstream(line) >> golden.width >> golden.height >> golden.seed >> golden.to_width >>
        golden.to_height >> golden.filter >> golden.sha256;
    all.push_back(golden);
  }
  return all;
}

Filter filter_named(const std::string& name) {
  static const std::map<std::string, Filter> kFilters{
      {"nearest", Filter::nearest}, {"box", Filter::box},         {"bilinear", Filter::bilinear},
      {"hamming", Filter::hamming}, {"bicubic", Filter::bicubic}, {"lanczos", Filter::lanczos}};
  return kFilters.at(name);
}

/// Runs a test once for each vector unit that this machine has and the build knows.
class OnEveryTarget : public testing::TestWithParam<std::int64_t> {
 protected:
  void SetUp() override {
    hwy::SetSupportedTargetsForTest(GetParam());
    hwy::GetChosenTarget().DeInit();
  }
  void TearDown() override {
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().DeInit();
  }
};

std::vector<std::int64_t> targets() {
  std::vector<std::int64_t> all;
  for (auto left = hwy::SupportedTargets(); left != 0; left &= left - 1)
    all.push_back(left & -left);
  return all;
}

std::string target_name(const testing::TestParamInfo<std::int64_t>& info) {
  return hwy::TargetName(info.param);
}

INSTANTIATE_TEST_SUITE_P(Resize, OnEveryTarget, testing::ValuesIn(targets()), target_name);

void expect_goldens(const std::string& file, PassOrder order) {
  const auto all = goldens(file);
  ASSERT_EQ(all.size(), 544U);
  for (const auto& golden : all) {
    const auto source = made_up(golden.width, golden.height, golden.seed);
    const auto out = resized(source, golden.width, golden.height,
                             {golden.to_width,
                              golden.to_height,
                              {0, 0, golden.to_width, golden.to_height},
                              false,
                              filter_named(golden.filter),
                              order});
    EXPECT_EQ(sha256_hex(std::as_bytes(std::span(out))), golden.sha256)
        << golden.filter << ' ' << golden.width << " x " << golden.height << " to "
        << golden.to_width << " x " << golden.to_height;
  }
}

TEST_P(OnEveryTarget, GivesThePixelsOfPillow12) {
  expect_goldens("pillow12.tsv", PassOrder::pillow12);
}

TEST_P(OnEveryTarget, GivesThePixelsOfPillow13) {
  expect_goldens("pillow13.tsv", PassOrder::pillow13);
}

TEST_P(OnEveryTarget, AWindowIsAPartOfTheWhole) {
  Random random(3);
  const auto source = made_up(130, 90, 2);
  for (int round = 0; round < 60; ++round) {
    const auto width = static_cast<std::uint32_t>(1 + random.below(150));
    const auto height = static_cast<std::uint32_t>(1 + random.below(150));
    Box window{static_cast<std::uint32_t>(random.below(width)),
               static_cast<std::uint32_t>(random.below(height)), 1, 1};
    window.width = static_cast<std::uint32_t>(1 + random.below(width - window.left));
    window.height = static_cast<std::uint32_t>(1 + random.below(height - window.top));
    const bool flip = random.below(2) == 1;
    const auto order = random.below(2) == 1 ? PassOrder::pillow12 : PassOrder::pillow13;
    const auto whole = resized(
        source, 130, 90, {width, height, {0, 0, width, height}, false, Filter::bilinear, order});
    const auto part =
        resized(source, 130, 90, {width, height, window, flip, Filter::bilinear, order});
    for (std::size_t y = 0; y < window.height; ++y) {
      for (std::size_t x = 0; x < window.width; ++x) {
        const auto from = flip ? window.width - 1 - x : x;
        ASSERT_EQ(std::memcmp(&part[(y * window.width + x) * 3],
                              &whole[((y + window.top) * width + from + window.left) * 3], 3),
                  0);
      }
    }
  }
}

TEST_P(OnEveryTarget, PlanesAreTheInterleavedPixels) {
  for (const std::uint32_t width :
       {1U, 2U, 15U, 16U, 21U, 22U, 31U, 32U, 33U, 63U, 64U, 65U, 500U}) {
    const auto rgb = made_up(width, 1, width);
    std::vector<std::uint8_t> memory(3 * padded_row(width));
    const PlanarRowOut planes{memory.data(), memory.data() + padded_row(width),
                              memory.data() + 2 * padded_row(width)};
    split_rgb(rgb.data(), width, planes);
    for (std::size_t x = 0; x < width; ++x) {
      for (std::size_t c = 0; c < 3; ++c) ASSERT_EQ(planes[c][x], rgb[3 * x + c]);
    }
    std::vector<std::uint8_t> joined(rgb.size());  // no slack: asan sees a byte too much
    join_rgb({planes[0], planes[1], planes[2]}, width, joined.data());
    ASSERT_EQ(joined, rgb);
  }
}

TEST_P(OnEveryTarget, FloatsAreOneProductAndOneSum) {
  for (const std::uint32_t width : {1U, 7U, 8U, 15U, 16U, 17U, 224U, 256U}) {
    const auto in = made_up(width, 1, 4);
    std::vector<float> wanted(width);
    for (std::size_t x = 0; x < width; ++x) {
      const float product = static_cast<float>(in[x]) * 0.0171F;
      wanted[x] = product + -2.117F;
    }
    std::vector<float> out(width);
    to_float(in.data(), width, 0.0171F, -2.117F, out.data());
    EXPECT_EQ(out, wanted);
    for (const std::size_t skip : {0U, 1U, 4U, 8U}) {  // from a cache line on, and within one
      alignas(64) std::array<float, 300> streamed{};
      stream_float(in.data(), width, 0.0171F, -2.117F, streamed.data() + skip);
      fence_streams();
      EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), streamed.begin() + skip));
      EXPECT_EQ(streamed[skip + width], 0) << "nothing behind it is written";
    }
  }
}

}  // namespace
}  // namespace headrace
