// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/learner.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "headrace/base/random.h"

namespace headrace {
namespace {

constexpr std::size_t kSide = 12;
constexpr std::size_t kClasses = 3;
constexpr LearnerOptions kOptions{.model = "resnet20",
                                  .channels = 1,
                                  .height = kSide,
                                  .width = kSide,
                                  .classes = kClasses,
                                  .threads = 1};

/// Noise, brighter in a third of the rows that is the class.
struct Pictures {
  std::vector<float> pixels;
  std::vector<std::int64_t> classes;

  Pictures(std::size_t count, std::uint64_t key) {
    Random random(key);
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t chosen = random.below(kClasses);
      classes.push_back(static_cast<std::int64_t>(chosen));
      for (std::size_t at = 0; at < kSide * kSide; ++at) {
        const bool bright = at * kClasses / (kSide * kSide) == chosen;
        pixels.push_back(static_cast<float>(random.uniform() + (bright ? 0.7 : 0.0)));
      }
    }
  }
  Lesson lesson() { return {pixels, classes, false, {}}; }
};

std::vector<double> train_some(Learner& learner, std::uint64_t first, std::uint64_t count) {
  std::vector<double> losses;
  for (std::uint64_t step = first; step < first + count; ++step) {
    Pictures pictures(16, step);
    const auto marks = learner.train(pictures.lesson(), 0.05);
    if (!marks) ADD_FAILURE() << marks.error().to_string();
    losses.push_back(marks ? marks->loss_sum : 0.0);
  }
  return losses;
}

TEST(Learner, LearnsWhatCanBeLearnt) {
  const auto group = single_group();
  const auto learner = *Learner::make(kOptions, *group);
  train_some(*learner, 0, 60);
  Pictures fresh(90, 12345);
  const auto marks = learner->evaluate(fresh.lesson());
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->samples, 90U);
  EXPECT_GE(marks->correct, 80U);
  EXPECT_LT(marks->loss_sum / 90, 0.5);
}

TEST(Learner, FirstLossIsThatOfAGuess) {
  const auto group = single_group();
  const auto learner = *Learner::make(kOptions, *group);
  Pictures pictures(64, 1);
  const auto marks = learner->train(pictures.lesson(), 0.0);
  ASSERT_TRUE(marks.ok());
  EXPECT_NEAR(marks->loss_sum / 64, std::log(kClasses), 0.5);
}

TEST(Learner, TheSameCallsGiveTheSameBits) {
  const auto group = single_group();
  const auto first = *Learner::make(kOptions, *group);
  const auto losses = train_some(*first, 0, 6);
  const auto second = *Learner::make(kOptions, *group);
  EXPECT_EQ(train_some(*second, 0, 6), losses);
}

TEST(Learner, SaveAndLoadLeaveNoTrace) {
  const auto group = single_group();
  const auto unbroken = *Learner::make(kOptions, *group);
  train_some(*unbroken, 0, 4);
  const auto archive = unbroken->save();
  ASSERT_TRUE(archive.ok());
  const auto losses = train_some(*unbroken, 4, 4);

  LearnerOptions other_weights = kOptions;
  other_weights.seed = 99;
  const auto resumed = *Learner::make(other_weights, *group);
  ASSERT_TRUE(resumed->load(*archive).ok());
  EXPECT_EQ(train_some(*resumed, 4, 4), losses);
}

TEST(Learner, AnArchiveOfAnotherModelIsCorrupt) {
  const auto group = single_group();
  const auto small = *Learner::make(kOptions, *group);
  const auto archive = *small->save();
  LearnerOptions options = kOptions;
  options.classes = 5;
  const auto wide = *Learner::make(options, *group);
  const auto loaded = wide->load(archive);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code(), Code::corrupt);
  EXPECT_EQ(small->load("no archive").error().code(), Code::corrupt);
  EXPECT_EQ(small->load(archive.substr(0, archive.size() / 2)).error().code(), Code::corrupt);
}

TEST(Learner, AnEmptyLessonChangesNothing) {
  const auto group = single_group();
  const auto learner = *Learner::make(kOptions, *group);
  train_some(*learner, 0, 2);
  const auto marks = learner->train({}, 0.1);
  ASSERT_TRUE(marks.ok());
  EXPECT_EQ(marks->samples, 0U);
  const auto after = train_some(*learner, 2, 2);
  const auto other = *Learner::make(kOptions, *group);
  train_some(*other, 0, 2);
  EXPECT_EQ(train_some(*other, 2, 2), after);
}

TEST(Learner, AStepThatIsGivenUpAnywhereIsAsIfItHadNotBegun) {
  const auto group = single_group();
  const auto learner = *Learner::make(kOptions, *group);
  train_some(*learner, 0, 2);
  Pictures pictures(16, 2);
  int asked = 0, last = 0;
  Lesson lesson = pictures.lesson();
  lesson.give_up = [&] { return ++asked == last; };
  const std::string before = *learner->save();
  constexpr int kConvolutions = 1 + 9 * 2;
  for (last = 1; last <= 2 * kConvolutions; ++last) {
    asked = 0;
    const auto given_up = learner->train(lesson, 0.05);
    ASSERT_FALSE(given_up.ok()) << "asked " << asked << " times";
    EXPECT_EQ(given_up.error().code(), Code::cancelled);
    EXPECT_EQ(asked, last) << "and not again";
    EXPECT_EQ(*learner->save(), before) << "given up at " << last;
  }
  asked = 0;
  EXPECT_TRUE(learner->train(lesson, 0.05).ok());
  EXPECT_EQ(asked, 2 * kConvolutions) << "after each convolution, and again on the way back";

  const auto other = *Learner::make(kOptions, *group);
  train_some(*other, 0, 3);
  EXPECT_EQ(train_some(*other, 3, 2), train_some(*learner, 3, 2));

  for (last = 1; last <= kConvolutions; ++last) {
    asked = 0;
    EXPECT_EQ(learner->evaluate(lesson).error().code(), Code::cancelled);
  }
}

TEST(Learner, ALossThatIsNoNumberIsAnError) {
  const auto group = single_group();
  const auto learner = *Learner::make(kOptions, *group);
  Pictures pictures(4, 1);
  pictures.pixels[0] = std::numeric_limits<float>::quiet_NaN();
  const auto marks = learner->train(pictures.lesson(), 0.1);
  ASSERT_FALSE(marks.ok());
  EXPECT_EQ(marks.error().code(), Code::invalid);
  EXPECT_FALSE(marks.error().remedy().empty());
}

}  // namespace
}  // namespace headrace
