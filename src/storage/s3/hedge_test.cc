// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/hedge.h"

#include <gtest/gtest.h>

#include "headrace/base/random.h"

namespace headrace::s3 {
namespace {

using namespace std::chrono_literals;

TEST(HedgePolicy, KnowsNothingBeforeTwoHundred) {
  HedgePolicy policy;
  for (int i = 0; i < 199; ++i) policy.observed(30ms);
  EXPECT_FALSE(policy.patience().has_value());
  for (int i = 0; i < 64; ++i) policy.observed(30ms);
  EXPECT_TRUE(policy.patience().has_value());
}

TEST(HedgePolicy, OfPartsFiftyAreEnough) {
  HedgePolicy policy({.enough = 50, .most_saved = 4});
  for (int i = 0; i < 49; ++i) policy.observed(30ms);
  EXPECT_FALSE(policy.patience().has_value());
  policy.observed(30ms);
  ASSERT_TRUE(policy.patience().has_value());
  EXPECT_GE(*policy.patience(), 30ms);
  for (int i = 0; i < 5000; ++i) policy.observed(30ms);
  int hedges = 0;
  while (policy.take()) ++hedges;
  EXPECT_LE(hedges, 4);
}

TEST(HedgePolicy, WaitsForTheNinetyNinthPercentile) {
  HedgePolicy policy;
  Random random(1);
  for (int i = 0; i < 5000; ++i) {
    const bool slow = i % 50 == 0;  // 2 %
    policy.observed(slow ? 500ms : Nanos(static_cast<std::int64_t>(random.uniform(20e6, 40e6))));
  }
  EXPECT_GE(*policy.patience(), 500ms);
  EXPECT_LE(*policy.patience(), 570ms);
  HedgePolicy rare;
  for (int i = 0; i < 5000; ++i) rare.observed(i % 200 == 0 ? 500ms : 30ms);  // half a percent
  EXPECT_GE(*rare.patience(), 30ms);
  EXPECT_LE(*rare.patience(), 34ms);
}

TEST(HedgePolicy, ForgetsWhatWasLongAgo) {
  HedgePolicy policy;
  for (int i = 0; i < 10'000; ++i) policy.observed(800ms);
  for (int i = 0; i < 60'000; ++i) policy.observed(20ms);
  EXPECT_LE(*policy.patience(), 23ms);
}

TEST(HedgePolicy, NeverHastensBelowTenMilliseconds) {
  HedgePolicy policy;
  for (int i = 0; i < 1000; ++i) policy.observed(200us);
  EXPECT_EQ(*policy.patience(), 10ms);
}

TEST(HedgePolicy, AtMostOnePercentExtra) {
  HedgePolicy policy;
  int hedges = 0;
  for (int i = 0; i < 100'000; ++i) {
    policy.observed(30ms);
    while (policy.take()) ++hedges;
  }
  EXPECT_LE(hedges, 1000);
  EXPECT_GE(hedges, 990);
}

TEST(HedgePolicy, AStallOfEverythingAfterALongCalmIsNotDoubled) {
  HedgePolicy policy;
  for (int i = 0; i < 100'000; ++i) policy.observed(30ms);
  int hedges = 0;
  while (policy.take()) ++hedges;
  EXPECT_LE(hedges, 16);
}

TEST(HedgePolicy, AnyTimeHasItsStep) {
  HedgePolicy policy;
  for (const Nanos time : {Nanos(-1), Nanos(0), Nanos(1), Nanos(65536), Nanos(24h), Nanos::max()})
    policy.observed(time);
}

}  // namespace
}  // namespace headrace::s3
