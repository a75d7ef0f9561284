// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/progress.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

EpochRecord some_record(std::uint64_t epoch) {
  return {.epoch = epoch,
          .train = {.loss_sum = 0.1 + 1.0 / 3.0, .correct = 3, .samples = 4},
          .seconds = 2.0 / 3.0,
          .losses = {1.0 / 7.0, 0.1},
          .order_digest = "0f",
          .set_digest = "f0",
          .validation = Marks{.loss_sum = 1e-300, .correct = 1, .samples = 8}};
}

TEST(Progress, ReadsBackToTheLastBit) {
  Progress progress{.done = {some_record(0), some_record(1)}, .validate = true};
  progress.current = {.epoch = 2, .train = {.loss_sum = 1e17 / 3, .correct = 1, .samples = 2}};
  const std::string text = to_json(progress).dump();
  const auto read = parse_progress(nlohmann::json::parse(text));
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(to_json(*read).dump(), text);
  EXPECT_EQ(read->done[1].train.loss_sum, 0.1 + 1.0 / 3.0);
  EXPECT_EQ(read->done[1].losses, progress.done[1].losses);
  EXPECT_EQ(read->done[1].validation->correct, 1U);
  EXPECT_FALSE(read->current.validation.has_value());
  EXPECT_TRUE(read->validate);
}

TEST(Progress, MeansAreOverSamples) {
  const EpochRecord record = some_record(0);
  EXPECT_DOUBLE_EQ(record.train_accuracy(), 0.75);
  EXPECT_DOUBLE_EQ(record.train_loss(), (0.1 + 1.0 / 3.0) / 4);
  EXPECT_DOUBLE_EQ(record.samples_per_second(), 6.0);
  EXPECT_DOUBLE_EQ(*record.validation_accuracy(), 0.125);
  const EpochRecord nothing;
  EXPECT_EQ(nothing.train_accuracy(), 0.0);
  EXPECT_EQ(nothing.train_loss(), 0.0);
  EXPECT_EQ(nothing.samples_per_second(), 0.0);
}

TEST(Progress, BestIsOfEpochsThatWereValidated) {
  Progress progress;
  EXPECT_FALSE(progress.best_accuracy().has_value());
  progress.done = {some_record(0), some_record(1), some_record(2)};
  progress.done[1].validation->correct = 5;
  progress.done[2].validation.reset();
  EXPECT_DOUBLE_EQ(*progress.best_accuracy(), 0.625);
}

TEST(Progress, MissingOrOddKeysAreCorrupt) {
  const auto good = to_json(Progress{.done = {some_record(0)}});
  for (const char* key : {"done", "current", "validate"}) {
    auto lacking = good;
    lacking.erase(key);
    EXPECT_EQ(parse_progress(lacking).error().code(), Code::corrupt) << key;
  }
  for (const char* key : {"epoch", "train", "seconds", "order_digest"}) {
    auto odd = good;
    odd["done"][0][key] = nullptr;
    EXPECT_EQ(parse_progress(odd).error().code(), Code::corrupt) << key;
  }
  EXPECT_EQ(parse_progress(nlohmann::json(7)).error().code(), Code::corrupt);
}

}  // namespace
}  // namespace headrace
