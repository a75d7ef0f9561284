// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <thread>

namespace headrace::advisor {
namespace {

Result<Ended> shell(const std::string& script, const std::stop_token& stop = {}) {
  return run_process({"/bin/sh", "-c", script}, stop);
}

TEST(Process, GivesWhatWasPrintedAndTheExitCode) {
  const auto ended = shell("echo out; echo err >&2; exit 3");
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->code, 3);
  EXPECT_EQ(ended->out, "out\n");
  EXPECT_EQ(ended->err, "err\n");
  EXPECT_GT(ended->seconds, 0);
}

TEST(Process, ASignalIs128AndItsNumber) { EXPECT_EQ(shell("kill -9 $$")->code, 128 + SIGKILL); }

TEST(Process, LargeOutputOnBothPipesDoesNotStall) {
  const auto ended = shell("head -c 3000000 /dev/zero; head -c 3000000 /dev/zero >&2");
  ASSERT_TRUE(ended.ok());
  EXPECT_EQ(ended->out.size(), 3000000U);
  EXPECT_EQ(ended->err.size(), 65536U);  // its last 64 KiB
}

TEST(Process, TooMuchOutputIsAnError) {
  const auto ended = shell("head -c 40000000 /dev/zero");
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::exhausted);
}

TEST(Process, StdinIsEmpty) { EXPECT_EQ(shell("cat")->out, ""); }

TEST(Process, AMissingProgramIsNotFound) {
  const auto ended = run_process({"/no/such/program"}, {});
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::not_found);
  EXPECT_NE(ended.error().to_string().find("/no/such/program"), std::string::npos);
}

TEST(Process, AGrandchildThatKeepsThePipeIsNotWaitedFor) {
  const auto ended = shell("sleep 60 & echo $!");
  ASSERT_TRUE(ended.ok());
  EXPECT_LT(ended->seconds, 30);
  kill(std::stoi(ended->out), SIGKILL);
}

TEST(Process, AStopEndsIt) {
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  const auto ended = shell("exec sleep 60", stop.get_token());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::cancelled);
}

TEST(Process, AStopEndsAlsoWhatIgnoresIt) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop.request_stop();
  });
  const auto ended = shell("trap '' TERM; while :; do sleep 0.1; done", stop.get_token());
  ASSERT_FALSE(ended.ok());
  EXPECT_EQ(ended.error().code(), Code::cancelled);
}

TEST(Process, SignalsThatTheParentBlocksAreOpenInTheChild) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(shell("kill -TERM $$; echo alive")->code, 128 + SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace headrace::advisor
