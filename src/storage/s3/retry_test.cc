// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/retry.h"

#include <gtest/gtest.h>

namespace headrace::s3 {
namespace {

using namespace std::chrono_literals;

TEST(NextDelay, IsBelowTheDoublingBoundAndUsesAllOfIt) {
  const RetryOptions options{.attempts = 20, .base = 100ms, .cap = 1s};
  Random random(1);
  for (int attempt = 1; attempt < 12; ++attempt) {
    const Nanos bound = std::min<Nanos>(100ms * (1 << (attempt - 1)), 1s);
    Nanos most = 0ns;
    Nanos least = 1h;
    for (int i = 0; i < 1000; ++i) {
      const auto delay = next_delay(options, Again::yes, attempt, 0s, 0s, random);
      ASSERT_TRUE(delay.has_value());
      most = std::max(most, *delay);
      least = std::min(least, *delay);
    }
    EXPECT_LT(most, bound);
    EXPECT_GT(most, bound * 9 / 10);
    EXPECT_LT(least, bound / 10);
  }
}

TEST(NextDelay, EndsAfterAttemptsAndBudget) {
  const RetryOptions options{.attempts = 5, .connect_attempts = 2};
  Random random(1);
  EXPECT_TRUE(next_delay(options, Again::yes, 4, 0s, 0s, random));
  EXPECT_FALSE(next_delay(options, Again::yes, 5, 0s, 0s, random));
  EXPECT_TRUE(next_delay(options, Again::if_connected_soon, 1, 0s, 0s, random));
  EXPECT_FALSE(next_delay(options, Again::if_connected_soon, 2, 0s, 0s, random));
  EXPECT_FALSE(next_delay(options, Again::no, 1, 0s, 0s, random));
  EXPECT_FALSE(next_delay(options, Again::yes, 1, options.budget, 1s, random));
}

TEST(NextDelay, AnOutageIsWaitedForByTimeAndNotByAttempts) {
  const RetryOptions options{.attempts = 2, .cap = 1s, .outage = 60s};
  Random random(1);
  for (int attempt = 1; attempt < 5000; ++attempt) {
    const auto delay = next_delay(options, Again::until_it_is_back, attempt, 59s - 1ns, 0s, random);
    ASSERT_TRUE(delay);
    ASSERT_LE(*delay, 1s);
  }
  EXPECT_FALSE(next_delay(options, Again::until_it_is_back, 2, 60s, 1ns, random));
  // One attempt that took long is no reason to make no other.
  EXPECT_TRUE(next_delay(options, Again::until_it_is_back, 1, 61s, 1ns, random));
}

TEST(NextDelay, RetryAfterIsTheLeastAndHasALimit) {
  const RetryOptions options;
  Random random(1);
  EXPECT_GE(*next_delay(options, Again::yes, 1, 0s, 3s, random), 3s);
  EXPECT_LE(*next_delay(options, Again::yes, 1, 0s, 1h, random), 31s);
}

TEST(NextDelay, IsAFunctionOfTheSeed) {
  Random one(7);
  Random same(7);
  EXPECT_EQ(next_delay({}, Again::yes, 3, 0s, 0s, one),
            next_delay({}, Again::yes, 3, 0s, 0s, same));
}

}  // namespace
}  // namespace headrace::s3
