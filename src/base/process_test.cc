// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/process.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

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

/// The age that a new process gives for itself, and how long ago it was asked for.
std::pair<Nanos, Nanos> age_of_a_child() {
  int ends[2];
  EXPECT_EQ(::pipe(ends), 0);
  const Nanos begun = real_clock().now();
  const pid_t child = ::fork();
  if (child == 0) {
    const auto age = process_age();
    const std::int64_t count = age ? age->count() : -1;
    ::_exit(::write(ends[1], &count, sizeof(count)) == sizeof(count) ? 0 : 1);
  }
  std::int64_t count = 0;
  EXPECT_EQ(::read(ends[0], &count, sizeof(count)), static_cast<ssize_t>(sizeof(count)));
  const Nanos passed = real_clock().now() - begun;
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
  return {Nanos(count), passed};
}

TEST(Process, AgeIsNoMoreThanWhatPassedSinceItWasStarted) {
  for (int i = 0; i < 5; ++i) {  // at different parts of a second
    const auto [age, passed] = age_of_a_child();
    EXPECT_GE(age, Nanos(0));
    EXPECT_LE(age, passed + std::chrono::milliseconds(20));  // the start is cut to ticks of 10 ms
    real_clock().sleep_for(std::chrono::milliseconds(170), {});
  }
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
