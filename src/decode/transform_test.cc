// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/transform.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
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
  other = transform;
  other.jitter.hue = 0.1F;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.erase = 0.25F;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.orient = Orient::exif;
  EXPECT_TRUE(differs(other));
  other = transform;
  other.colours = Colours::srgb;
  EXPECT_TRUE(differs(other));
}

// A state of an older version says nothing of what did not exist then.
TEST(Transform, WhatIsNotUsedIsNotNamed) {
  const auto text = Transform{}.to_text();
  for (const char* name : {"jitter", "erase", "orient", "colours"}) {
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

// Promise X4: To ask for one more augmentation moves no other.
TEST(Transform, AskingForMoreMovesNoBox) {
  auto transform = with(Augment::random_resized_crop);
  const auto plain = params_for(transform, {4, 5, 6}, 500, 375);
  transform.jitter = {0.4F, 0.4F, 0.4F, 0.1F};
  transform.erase = 1;
  const auto more = params_for(transform, {4, 5, 6}, 500, 375);
  EXPECT_EQ(more.source, plain.source);
  EXPECT_EQ(more.flip, plain.flip);
  EXPECT_TRUE(more.jitter.has_value());
  EXPECT_GT(more.erase.width, 0U);
  EXPECT_FALSE(plain.jitter.has_value());
  EXPECT_EQ(plain.erase.width, 0U);
}

TEST(Transform, CropsOfTheBuiltInClassifier) {
  auto transform = with(Augment::crop_color_transform);
  HlsShift least{99, 99, 99};
  HlsShift most{-99, -99, -99};
  float steepest = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const auto params = params_for(transform, {1, 1, i}, 500, 375);
    EXPECT_EQ(params.source, (Box{0, 0, 500, 375}));
    EXPECT_EQ(params.scaled_width, 341U);
    EXPECT_EQ(params.scaled_height, 256U);
    ASSERT_GE(params.crop_left, 0);
    ASSERT_LE(params.crop_left, 341 - 224);
    ASSERT_GE(params.crop_top, 0);
    ASSERT_LE(params.crop_top, 256 - 224);
    least = {std::min(least.hue, params.hls->hue), std::min(least.lightness, params.hls->lightness),
             std::min(least.saturation, params.hls->saturation)};
    most = {std::max(most.hue, params.hls->hue), std::max(most.lightness, params.hls->lightness),
            std::max(most.saturation, params.hls->saturation)};
    steepest = std::max(steepest, std::fabs((*params.warp)[3] / (*params.warp)[4]));
  }
  EXPECT_EQ(least.hue, -35);  // as C cuts what MXNet draws
  EXPECT_EQ(most.hue, 35);
  EXPECT_EQ(least.lightness, -49);
  EXPECT_EQ(most.saturation, 49);
  EXPECT_NEAR(steepest, std::tan(10 * std::acos(-1.0) / 180), 1e-6);
  transform.augment = Augment::crop;
  const auto plain = params_for(transform, {1, 1, 7}, 500, 375);
  EXPECT_FALSE(plain.hls || plain.warp);
  transform.resize = 0;
  EXPECT_EQ(params_for(transform, {1, 1, 7}, 500, 375).scaled_width, 500U);
}

TEST(Transform, ErasingHasTheRightSpread) {
  auto transform = with(Augment::none);
  transform.erase = 0.5F;
  int erased = 0;
  double area = 0;
  for (std::uint64_t i = 0; i < 20000; ++i) {
    const Box box = params_for(transform, {3, 0, i}, 224, 224).erase;
    if (box.width == 0) continue;
    ++erased;
    ASSERT_LE(box.left + box.width, 224U);
    ASSERT_LE(box.top + box.height, 224U);
    area += static_cast<double>(box.width) * box.height / (224.0 * 224.0);
  }
  EXPECT_NEAR(erased, 10000, 300);
  EXPECT_NEAR(area / erased, 0.17, 0.01);  // uniform in 0.02 … 0.33, less what does not fit
}

TEST(Transform, JitterIsDrawnWithinItsBounds) {
  auto transform = with(Augment::none);
  transform.jitter = {0.4F, 0.3F, 2.0F, 0.1F};
  std::array<int, 4> first{};
  for (std::uint64_t i = 0; i < 4000; ++i) {
    const auto jitter = *params_for(transform, {3, 0, i}, 224, 224).jitter;
    ASSERT_NEAR(jitter.brightness, 1, 0.4001);
    ASSERT_NEAR(jitter.contrast, 1, 0.3001);
    ASSERT_GE(jitter.saturation, 0);  // not 1 - 2
    ASSERT_LE(jitter.saturation, 3.0001);
    ASSERT_NEAR(jitter.hue, 0, 0.1001);
    ++first[static_cast<std::size_t>(jitter.order[0])];
  }
  for (const int count : first) EXPECT_NEAR(count, 1000, 120);
}

TEST(Transform, ValidationLeavesNothingToChance) {
  Transform training;
  training.jitter.hue = 0.1F;
  training.erase = 0.5F;
  training.orient = Orient::exif;
  for (const auto augment : {Augment::random_resized_crop, Augment::crop, Augment::crop_color,
                             Augment::crop_color_transform, Augment::center_crop}) {
    training.augment = augment;
    const auto transform = validation_of(training);
    EXPECT_EQ(transform.augment, Augment::center_crop);
    EXPECT_FALSE(transform.jitter.any());
    EXPECT_EQ(transform.erase, 0.0F);
    EXPECT_EQ(transform.orient, Orient::exif);  // what the picture is, stays
  }
  training.augment = Augment::pad_crop;
  EXPECT_EQ(validation_of(training).augment, Augment::none);
}

TEST(Transform, JitterIsParsed) {
  const auto jitter = parse_jitter("0.4,0.3,0.2,0.1");
  ASSERT_TRUE(jitter.ok());
  EXPECT_FLOAT_EQ(jitter->saturation, 0.2F);
  EXPECT_FLOAT_EQ(parse_jitter("0.4")->brightness, 0.4F);
  for (const char* wrong : {"", ",", "0.4,", "a", "0.4,0.4,0.4,0.6", "-1", "1,1,1,0.1,1", "1 2"}) {
    EXPECT_FALSE(parse_jitter(wrong).ok()) << wrong;
  }
  Transform transform;
  transform.erase = 1.5F;
  EXPECT_FALSE(check_transform(transform).ok());
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
  EXPECT_EQ(*parse_augment("crop_color_transform"), Augment::crop_color_transform);
  EXPECT_EQ(*parse_orient("exif"), Orient::exif);
  EXPECT_EQ(*parse_colours("srgb"), Colours::srgb);
  const auto wrong = parse_augment("rotate");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
