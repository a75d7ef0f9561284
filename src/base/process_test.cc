// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/process.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "headrace/base/signal_stop.h"

namespace headrace {
namespace {

TEST(Process, AgeGrowsWithTheClock) {
  const auto first = process_age();
  ASSERT_TRUE(first.ok());
  const Nanos begun = real_clock().now();
  real_clock().sleep_for(std::chrono::milliseconds(30), {});
  const auto second = process_age();
  const Nanos slept = real_clock().now() - begun;
  ASSERT_TRUE(second.ok());
  EXPECT_GE(*first, Nanos(0) - std::chrono::milliseconds(20));  // the start is cut to ticks
  EXPECT_GE(*second - *first, std::chrono::milliseconds(30));
  EXPECT_LE(*second - *first, slept + std::chrono::milliseconds(1));
}

TEST(Process, KnowsItsFolder) {
  const auto folder = program_folder();
  ASSERT_TRUE(folder.ok());
  EXPECT_TRUE(std::filesystem::exists(*folder + "/headrace_base_test"));
}

TEST(SignalStop, FirstSignalAsksToStop) {
  SignalStop signals;
  EXPECT_FALSE(signals.token().stop_requested());
  ASSERT_EQ(::kill(::getpid(), SIGTERM), 0);
  const Nanos until = real_clock().now() + std::chrono::seconds(20);
  while (!signals.token().stop_requested() && real_clock().now() < until) {
    real_clock().sleep_for(std::chrono::milliseconds(1), {});
  }
  EXPECT_TRUE(signals.token().stop_requested());
}

TEST(SignalStop, EndsWithoutASignal) {
  { const SignalStop signals; }
  SUCCEED();
}

}  // namespace
}  // namespace headrace
