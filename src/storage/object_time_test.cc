// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/object_time.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(ObjectTime, IsUnknownWhereItDoesNotFit) {
  EXPECT_EQ(object_time(1, 5), 1'000'000'005);
  EXPECT_EQ(object_time(-1, 5), -999'999'995);
  EXPECT_EQ(object_time(201'364'974'245), 0) << "the year 8351";
  EXPECT_EQ(object_time(-30'000'000'000), 0) << "the year 1019";
  EXPECT_EQ(object_time(std::numeric_limits<std::int64_t>::max()), 0);
  EXPECT_EQ(object_time(std::numeric_limits<std::int64_t>::min()), 0);
  EXPECT_GT(object_time(9'223'372'035, 999'999'999), 0) << "the last second that surely fits";
}

TEST(ObjectTime, CountsNanosecondsForwardBefore1970) {
  for (const std::int64_t time : {0L, 1L, 1'500'000'000L, -1L, -1'000'000'000L, -1'500'000'000L}) {
    const timespec spec = timespec_of(time);
    EXPECT_GE(spec.tv_nsec, 0) << time;
    EXPECT_LT(spec.tv_nsec, kNanosOfSecond) << time;
    EXPECT_EQ(object_time(spec.tv_sec, spec.tv_nsec), time);
  }
}

}  // namespace
}  // namespace headrace
