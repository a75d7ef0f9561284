// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/keeper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace headrace::s3 {
namespace {

using namespace std::chrono_literals;

/// What a server would hand out, one set of keys after another.
class Issuer {
 public:
  Keeper::Obtain obtain(Clock& clock, std::int64_t lifetime) {
    return [this, &clock, lifetime](const std::stop_token&) -> Result<Credentials> {
      const int number = ++asked;
      while (held) std::this_thread::yield();
      if (fails) return Error(Code::unavailable, "the issuer is down");
      return Credentials{.access_key = "K" + std::to_string(same ? 0 : number),
                         .secret_key = "S",
                         .expires = clock.wall_seconds() + lifetime};
    };
  }
  std::atomic<int> asked{0};
  std::atomic<bool> held{false};
  std::atomic<bool> fails{false};
  std::atomic<bool> same{false};
};

Credentials first(Clock& clock, std::int64_t lifetime) {
  return {.access_key = "K0",
          .secret_key = "S",
          .expires = lifetime == 0 ? 0 : clock.wall_seconds() + lifetime};
}

void wait_for_key(Keeper& keeper, const std::string& key) {
  while (keeper.get()->access_key != key) std::this_thread::yield();
}

TEST(Keeper, KeysWithoutExpiryAreNeverRefreshed) {
  ManualClock clock;
  Issuer issuer;
  Keeper keeper(first(clock, 0), issuer.obtain(clock, 3600), clock);
  clock.advance(240h);
  EXPECT_EQ(keeper.get()->access_key, "K0");
  EXPECT_EQ(issuer.asked, 0);
}

TEST(Keeper, RefreshesTenMinutesEarlyAndNotBefore) {
  ManualClock clock;
  Issuer issuer;
  Keeper keeper(first(clock, 3600), issuer.obtain(clock, 3600), clock);
  clock.advance(49min);
  EXPECT_EQ(keeper.get()->access_key, "K0");
  EXPECT_EQ(issuer.asked, 0);
  clock.advance(1min);
  wait_for_key(keeper, "K1");
  EXPECT_EQ(issuer.asked, 1);
}

TEST(Keeper, ShortLivesAreRefreshedAtTwoThirds) {
  ManualClock clock;
  Issuer issuer;
  Keeper keeper(first(clock, 900), issuer.obtain(clock, 900), clock);
  clock.advance(599s);
  (void)keeper.get();
  EXPECT_EQ(issuer.asked, 0);
  clock.advance(1s);
  wait_for_key(keeper, "K1");
}

TEST(Keeper, OneRefreshAtATimeAndNobodyWaitsForIt) {
  ManualClock clock;
  Issuer issuer;
  issuer.held = true;
  Keeper keeper(first(clock, 3600), issuer.obtain(clock, 3600), clock);
  clock.advance(55min);
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(keeper.get()->access_key, "K0");
  while (issuer.asked == 0) std::this_thread::yield();
  EXPECT_EQ(keeper.renew(keeper.get()), Keeper::Renewal::coming);
  issuer.held = false;
  wait_for_key(keeper, "K1");
  EXPECT_EQ(issuer.asked, 1);
}

TEST(Keeper, ARefreshThatFailsKeepsTheOldOnesAndIsTriedAgain) {
  ManualClock clock;
  Issuer issuer;
  issuer.fails = true;
  Keeper keeper(first(clock, 3600), issuer.obtain(clock, 3600), clock);
  clock.advance(51min);
  (void)keeper.get();
  while (!keeper.trouble()) std::this_thread::yield();
  EXPECT_EQ(keeper.get()->access_key, "K0");
  EXPECT_EQ(issuer.asked, 1);  // not at once
  issuer.fails = false;
  clock.advance(10s);
  wait_for_key(keeper, "K2");
  EXPECT_FALSE(keeper.trouble().has_value());
}

TEST(Keeper, RefusedKeysAreRenewedOnceAndThenThereAreNone) {
  ManualClock clock;
  Issuer issuer;
  Keeper keeper(first(clock, 3600), issuer.obtain(clock, 3600), clock);
  const auto refused = keeper.get();
  EXPECT_EQ(keeper.renew(refused), Keeper::Renewal::coming);
  wait_for_key(keeper, "K1");
  EXPECT_EQ(keeper.renew(refused), Keeper::Renewal::done);
}

TEST(Keeper, KeysThatStayTheSameAreNotAskedForWithoutEnd) {
  ManualClock clock;
  int asked = 0;
  Keeper keeper(
      first(clock, 0),
      [&asked](const std::stop_token&) -> Result<Credentials> {
        ++asked;
        return Credentials{.access_key = "K0", .secret_key = "S"};
      },
      clock);
  const auto refused = keeper.get();
  Keeper::Renewal renewal = keeper.renew(refused);
  while (renewal == Keeper::Renewal::coming) renewal = keeper.renew(refused);
  EXPECT_EQ(renewal, Keeper::Renewal::none);
  EXPECT_EQ(asked, 1);
}

TEST(Keeper, WhatCannotBeRenewedIsSaidAtOnce) {
  ManualClock clock;
  Keeper keeper(first(clock, 1), {}, clock);
  clock.advance(1h);
  EXPECT_EQ(keeper.renew(keeper.get()), Keeper::Renewal::none);
}

}  // namespace
}  // namespace headrace::s3
