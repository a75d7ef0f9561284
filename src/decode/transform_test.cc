// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/transform.h"

#include <gtest/gtest.h>

#include <cmath>

namespace headrace {
namespace {

Transform with(Augment augment) {
  Transform transform;
  transform.augment = augment;
  return transform;
}

TEST(Transform, ParametersAreAFunctionOfTheKey) {
  const auto transform = with(Augment::random_resized_crop);
  const auto one = params_for(transform, {1, 2, 3}, 500, 375);
  EXPECT_EQ(params_for(transform, {1, 2, 3}, 500, 375).source, one.source);
  EXPECT_FALSE(params_for(transform, {2, 2, 3}, 500, 375).source == one.source);
  EXPECT_FALSE(params_for(transform, {1, 3, 3}, 500, 375).source == one.source);
  EXPECT_FALSE(params_for(transform, {1, 2, 4}, 500, 375).source == one.source);
}

// Changing these changes what every stored state and checkpoint means.
TEST(Transform, ParametersAreTheSameForEver) {
  const auto transform = with(Augment::random_resized_crop);
  const auto params = params_for(transform, {42, 0, 7}, 500, 375);
  EXPECT_EQ(params.source, (Box{47, 88, 216, 255}));
  EXPECT_EQ(params.flip, false);
}

TEST(Transform, RandomResizedCropHasTheRightSpread) {
  const auto transform = with(Augment::random_resized_crop);
  double area = 0;
  double log_ratio = 0;
  int flips = 0;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const auto params = params_for(transform, {9, 0, static_cast<std::uint64_t>(i)}, 600, 600);
    const Box& box = params.source;
    ASSERT_LE(box.left + box.width, 600U);
    ASSERT_LE(box.top + box.height, 600U);
    ASSERT_GT(box.width, 0U);
    ASSERT_EQ(params.scaled_width, 224U);
    const double ratio = static_cast<double>(box.width) / box.height;
    ASSERT_GT(ratio, 0.74);
    ASSERT_LT(ratio, 1.35);
    area += static_cast<double>(box.width) * box.height / (600.0 * 600.0);
    log_ratio += std::log(ratio);
    flips += params.flip ? 1 : 0;
  }
  // Uniform in 0.08 .. 1, less what is drawn again because it does not fit.
  EXPECT_NEAR(area / kDraws, 0.475, 0.01);
  EXPECT_NEAR(log_ratio / kDraws, 0.0, 0.01);
  EXPECT_NEAR(flips, kDraws / 2, 300);
}

TEST(Transform, APictureOfOddShapeFallsBackToItsCentre) {
  const auto transform = with(Augment::random_resized_crop);
  const auto wide = params_for(transform, {1, 1, 1}, 4000, 3);
  EXPECT_EQ(wide.source, (Box{1998, 0, 4, 3}));
  const auto tall = params_for(transform, {1, 1, 1}, 3, 4000);
  EXPECT_EQ(tall.source, (Box{0, 1998, 3, 4}));
  EXPECT_EQ(params_for(transform, {1, 1, 1}, 1, 1).source, (Box{0, 0, 1, 1}));
}

TEST(Transform, CenterCropRoundsAsTorchvision) {
  const auto transform = with(Augment::center_crop);
  const auto wide = params_for(transform, {}, 500, 375);
  EXPECT_EQ(wide.scaled_width, 341U);  // int(256 * 500 / 375)
  EXPECT_EQ(wide.scaled_height, 256U);
  EXPECT_EQ(wide.crop_left, 58);  // round(58.5): halves go to the even number
  EXPECT_EQ(wide.crop_top, 16);
  EXPECT_FALSE(wide.flip);
  const auto tall = params_for(transform, {}, 375, 503);
  EXPECT_EQ(tall.scaled_width, 256U);
  EXPECT_EQ(tall.scaled_height, 343U);
  EXPECT_EQ(tall.crop_top, 60);  // round(59.5)
}

TEST(Transform, CenterCropPadsWhatIsTooSmall) {
  auto transform = with(Augment::center_crop);
  transform.resize = 201;
  const auto params = params_for(transform, {}, 100, 100);
  EXPECT_EQ(params.scaled_width, 201U);
  EXPECT_EQ(params.crop_left, -11);  // 23 missing: 11 on the left, 12 on the right
}

TEST(Transform, PadCropMovesByUpToFour) {
  auto transform = with(Augment::pad_crop);
  transform.width = transform.height = 32;
  int least = 9;
  int most = -9;
  for (std::uint64_t i = 0; i < 500; ++i) {
    const auto params = params_for(transform, {1, 1, i}, 32, 32);
    EXPECT_EQ(params.source, (Box{0, 0, 32, 32}));
    least = std::min({least, params.crop_left, params.crop_top});
    most = std::max({most, params.crop_left, params.crop_top});
  }
  EXPECT_EQ(least, -4);
  EXPECT_EQ(most, 4);
}

TEST(Transform, TextNamesEveryChoice) {
  Transform transform;
  const auto text = transform.to_text();
  const auto differs = [&text](const Transform& other) { return other.to_text() != text; };
  Transform other = transform;
  other.width = 225;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.pass_order = PassOrder::pillow13;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.layout = Layout::nhwc_u8;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.std[2] = 1;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.augment = Augment::none;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.filter = Filter::bicubic;
  EXPECT_TRUE(differs(other));
}

TEST(Transform, FiltersAndLayoutsAreParsedByName) {
  EXPECT_EQ(*parse_filter("lanczos"), Filter::lanczos);
  EXPECT_EQ(*parse_layout("nchw_bf16"), Layout::nchw_bf16);
  EXPECT_NE(parse_filter("sharp").error().to_string().find("hamming"), std::string::npos);
  EXPECT_FALSE(parse_layout("f64").ok());
  Transform transform;
  transform.filter = Filter::box;
  transform.layout = Layout::nchw_f16;
  EXPECT_NE(transform.to_text().find("filter=box"), std::string::npos);
  EXPECT_NE(transform.to_text().find("layout=nchw_f16"), std::string::npos);
  EXPECT_EQ(transform.sample_bytes(), 224U * 224 * 3 * 2);
}

TEST(Transform, AugmentsAreParsedByName) {
  EXPECT_EQ(*parse_augment("pad_crop"), Augment::pad_crop);
  const auto wrong = parse_augment("rotate");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
