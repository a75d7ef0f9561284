// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/stats.h"

#include <gtest/gtest.h>

namespace headrace::advisor {
namespace {

TEST(Stats, MedianOfOddAndEvenNumbers) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 1, 3, 2}), 2.5);
}

TEST(Stats, SpreadIsTheRangeOverTheMedian) {
  EXPECT_DOUBLE_EQ(*spread({10, 12, 9}), 0.3);
  EXPECT_DOUBLE_EQ(*spread({5, 5}), 0);
}

TEST(Stats, OneValueShowsNoSpread) {
  EXPECT_FALSE(spread({}).has_value());
  EXPECT_FALSE(spread({3}).has_value());
  EXPECT_FALSE(spread({0, 0}).has_value());
}

}  // namespace
}  // namespace headrace::advisor
