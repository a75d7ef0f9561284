// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decode_rates.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace headrace {
namespace {

Bytes picture(const std::string& file) {
  std::ifstream stream(std::string(HEADRACE_TEST_DATA "/vectors/") + file, std::ios::binary);
  return Bytes::copy_of(std::string(std::istreambuf_iterator<char>(stream), {}));
}

TEST(DecodeRates, EveryWayIsMeasured) {
  const std::vector<Bytes> pictures{picture("jpeg/baseline_420.jpg"),
                                    picture("jpeg/baseline_444.jpg")};
  const auto rates = measure_decode_rates(pictures, {2, 0.05, 3}, {});
  ASSERT_TRUE(rates.ok());
  ASSERT_GE(rates->size(), 3U);
  EXPECT_EQ(rates->front().who, "headrace-index");
  EXPECT_EQ(rates->back().who, "libjpeg-turbo");
  for (const auto& rate : *rates) {
    EXPECT_GT(rate.images_per_second, 0);
    EXPECT_GT(rate.images_per_cpu_second, 0);
    EXPECT_EQ(rate.threads, 2U);
  }
  EXPECT_LT(rates->front().bytes_touched_per_image, rates->back().bytes_touched_per_image);
}

TEST(DecodeRates, EveryWorkIsMeasured) {
  const std::vector<Bytes> pictures{picture("jpeg/baseline_420.jpg")};
  for (const auto* name : {"train", "validation", "whole"}) {
    DecodeRateOptions options{1, 0.02, 1};
    options.work = *parse_decode_work(name);
    const auto rates = measure_decode_rates(pictures, options, {});
    ASSERT_TRUE(rates.ok()) << name;
    EXPECT_EQ(rates->front().who,
              options.work == DecodeWork::whole ? "headrace-first" : "headrace-index");
    EXPECT_EQ(rates->back().who, "libjpeg-turbo");
  }
  EXPECT_FALSE(parse_decode_work("nothing").ok());
}

TEST(DecodeRates, ABadPictureIsAnError) {
  const std::vector<Bytes> pictures{picture("jpeg/trunc_base_50.jpg")};
  EXPECT_FALSE(measure_decode_rates(pictures, {1, 0.01, 1}, {}).ok());
}

TEST(DecodeRates, CanBeStopped) {
  std::stop_source stop;
  stop.request_stop();
  const std::vector<Bytes> pictures{picture("jpeg/baseline_420.jpg")};
  const auto rates = measure_decode_rates(pictures, {1, 1000, 1}, stop.get_token());
  ASSERT_FALSE(rates.ok());
  EXPECT_EQ(rates.error().code(), Code::cancelled);
}

TEST(DecodeRates, SamplingIsTold) {
  EXPECT_EQ(sampling_of(picture("jpeg/baseline_420.jpg").span()), "4:2:0");
  EXPECT_EQ(sampling_of(picture("jpeg/baseline_444.jpg").span()), "4:4:4");
  EXPECT_EQ(sampling_of(picture("jpeg/baseline_422.jpg").span()), "4:2:2");
  EXPECT_EQ(sampling_of(picture("jpeg/grey.jpg").span()), "grey");
  EXPECT_EQ(sampling_of(picture("png/rgb8.png").span()), "other");
}

}  // namespace
}  // namespace headrace
