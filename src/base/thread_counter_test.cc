// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/thread_counter.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

void work(unsigned rounds) {
  volatile unsigned sum = 0;
  for (unsigned i = 0; i < rounds; ++i) sum = sum + i;
}

TEST(ThreadCounter, TimeGoesOnWhileTheThreadWorks) {
  const auto clock = ThreadCounter::task_clock();
  if (!clock) GTEST_SKIP() << "counters are forbidden here";
  const auto before = clock->read();
  work(1'000'000);
  const auto between = clock->read();
  work(1'000'000);
  EXPECT_GT(between, before);
  EXPECT_GT(clock->read(), between);
}

TEST(ThreadCounter, TwiceTheWorkIsTwiceTheInstructions) {
  const auto instructions = ThreadCounter::instructions();
  if (!instructions) GTEST_SKIP() << "this machine counts no instructions";
  const auto begin = instructions->read();
  work(1'000'000);
  const auto once = instructions->read() - begin;
  work(2'000'000);
  const auto twice = instructions->read() - begin - once;
  EXPECT_GE(once, 1'000'000U);
  EXPECT_NEAR(static_cast<double>(twice) / static_cast<double>(once), 2.0, 0.2);
}

}  // namespace
}  // namespace headrace
