// SPDX-License-Identifier: Apache-2.0
// What waits, stops, and in which order: queue, budget, clock.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "headrace/base/bounded_queue.h"
#include "headrace/base/byte_budget.h"
#include "headrace/base/clock.h"

namespace headrace {
namespace {

TEST(BoundedQueue, KeepsOrderAndEndsWhenClosed) {
  BoundedQueue<int> queue(2);
  const std::stop_source never;
  std::jthread producer([&](const std::stop_token&) {
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(queue.push(i, never.get_token()));
    queue.close();
  });
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.pop(never.get_token()), i);
  EXPECT_EQ(queue.pop(never.get_token()), std::nullopt);
  EXPECT_FALSE(queue.push(1, never.get_token()));
}

TEST(BoundedQueue, AStopWakesBothEnds) {
  BoundedQueue<int> queue(1);
  std::stop_source stop;
  std::jthread taker([&] { EXPECT_EQ(queue.pop(stop.get_token()), std::nullopt); });
  stop.request_stop();
  taker.join();

  std::stop_source stop_push;
  ASSERT_TRUE(queue.push(1, stop_push.get_token()));
  std::jthread giver([&] { EXPECT_FALSE(queue.push(2, stop_push.get_token())); });
  stop_push.request_stop();
  giver.join();
  EXPECT_EQ(queue.size(), 1U);
}

TEST(ByteBudget, HoldsTheLimit) {
  ByteBudget budget(100);
  const std::stop_source never;
  std::atomic<std::uint64_t> most = 0;
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) {
        const auto grant = budget.reserve(30, never.get_token());
        most = std::max(most.load(), budget.used());
      }
    });
  }
  threads.clear();
  EXPECT_LE(most, 100U);
  EXPECT_LE(budget.peak(), 100U);
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ByteBudget, GrowsToItsLimitOnlyWhileSomebodyWaitsForMore) {
  ByteBudget budget(100, 20);
  const std::stop_source never;
  const auto first = budget.reserve(20, never.get_token());
  EXPECT_FALSE(budget.try_reserve(1)) << "it begins narrow";
  budget.widen();
  EXPECT_FALSE(budget.try_reserve(1)) << "nobody waits for it";
  std::atomic<bool> granted = false;
  std::jthread reserver([&] {
    const auto more = budget.reserve(70, never.get_token());  // 40 is too little, and so is 80
    granted = true;
  });
  while (!granted) budget.widen();
  reserver.join();
  EXPECT_EQ(budget.peak(), 90U);
}

TEST(ByteBudget, AdmitsTheHeadEvenAboveTheLimit) {
  ByteBudget budget(10);
  const std::stop_source never;
  auto grant = budget.reserve(1000, never.get_token());
  EXPECT_EQ(grant.bytes(), 1000U);
  std::stop_source stop;
  std::jthread second([&] { EXPECT_EQ(budget.reserve(1, stop.get_token()).bytes(), 0U); });
  stop.request_stop();
  second.join();
  grant.release();
  EXPECT_EQ(budget.reserve(1, never.get_token()).bytes(), 1U);
}

TEST(ByteBudget, AGrantThatMovedGivesBackOnce) {
  ByteBudget budget(10);
  const std::stop_source never;
  {
    auto first = budget.reserve(4, never.get_token());
    auto second = std::move(first);
    EXPECT_EQ(budget.used(), 4U);
    second = budget.reserve(2, never.get_token());
    EXPECT_EQ(budget.used(), 2U);
  }
  EXPECT_EQ(budget.used(), 0U);
}

TEST(ManualClock, SleepersWakeWhenItPasses) {
  ManualClock clock;
  std::atomic<bool> awake = false;
  const std::stop_source never;
  std::jthread sleeper([&] {
    EXPECT_TRUE(clock.sleep_for(std::chrono::seconds(5), never.get_token()));
    awake = true;
  });
  while (clock.sleepers() == 0) std::this_thread::yield();
  clock.advance(std::chrono::seconds(4));
  EXPECT_FALSE(awake);
  clock.advance(std::chrono::seconds(1));
  sleeper.join();
  EXPECT_TRUE(awake);
}

TEST(Clock, AStopEndsASleep) {
  std::stop_source stop;
  std::jthread sleeper(
      [&] { EXPECT_FALSE(real_clock().sleep_for(std::chrono::hours(1), stop.get_token())); });
  stop.request_stop();
  sleeper.join();
}

}  // namespace
}  // namespace headrace
