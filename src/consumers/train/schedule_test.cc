// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/schedule.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Schedule, StepsMultiplyFromTheirEpochOn) {
  const Schedule schedule{.base = 0.1, .factor = 0.1, .steps = {2, 4}, .updates_per_epoch = 10};
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(19), 0.1);
  EXPECT_DOUBLE_EQ(schedule.rate(20), 0.01);
  EXPECT_DOUBLE_EQ(schedule.rate(40), 0.001);
}

TEST(Schedule, CosineFallsFromBaseToZero) {
  const Schedule schedule{
      .curve = Curve::cosine, .base = 0.2, .epochs = 4, .updates_per_epoch = 25};
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.2);
  EXPECT_NEAR(schedule.rate(50), 0.1, 1e-15);
  EXPECT_NEAR(schedule.rate(100), 0.0, 1e-15);
  EXPECT_NEAR(schedule.rate(1000), 0.0, 1e-15);
  for (std::uint64_t update = 1; update < 100; ++update) {
    EXPECT_LT(schedule.rate(update), schedule.rate(update - 1));
  }
}

TEST(Schedule, WarmupRisesAndThenLeavesTheCurveAlone) {
  const Schedule schedule{.base = 1.0, .warmup = 0.5, .updates_per_epoch = 8};
  EXPECT_DOUBLE_EQ(schedule.rate(0), 0.25);
  EXPECT_DOUBLE_EQ(schedule.rate(2), 0.75);
  EXPECT_DOUBLE_EQ(schedule.rate(3), 1.0);
  EXPECT_DOUBLE_EQ(schedule.rate(4), 1.0);
}

TEST(Schedule, ReadsListsOfEpochs) {
  EXPECT_EQ(*parse_steps(""), std::vector<std::uint64_t>());
  EXPECT_EQ(*parse_steps("30"), std::vector<std::uint64_t>({30}));
  EXPECT_EQ(*parse_steps("10,20"), std::vector<std::uint64_t>({10, 20}));
  for (const char* bad : {"10,", ",10", "10,,20", "20,10", "10,10", "a", "1.5", "-1", "10 20",
                          "99999999999999999999"}) {
    const auto steps = parse_steps(bad);
    ASSERT_FALSE(steps.ok()) << bad;
    EXPECT_EQ(steps.error().code(), Code::invalid) << bad;
  }
}

TEST(Schedule, NamesOfCurvesReadBack) {
  for (const Curve curve : {Curve::step, Curve::cosine}) {
    EXPECT_EQ(*parse_curve(to_string(curve)), curve);
  }
  EXPECT_EQ(parse_curve("linear").error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
