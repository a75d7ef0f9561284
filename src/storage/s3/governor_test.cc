// SPDX-License-Identifier: Apache-2.0
// A network and a server as a formula, in virtual time.
#include "headrace/storage/s3/governor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "headrace/base/random.h"

namespace headrace::s3 {
namespace {

using namespace std::chrono_literals;

/// Answers `capacity` requests a second at most; alone, one takes `first_byte`. Beyond `quota`
/// requests a second it throttles.
struct World {
  double capacity = 1000;
  double first_byte = 0.03;
  double quota = 1e9;
  double demand = 1e9;  ///< requests that are wanted at once
  double noise = 0;     ///< of the rate, to either side
};

class Trial {
 public:
  explicit Trial(const GovernorOptions& options = {}) : governor(options) {}

  /// The mean rate of good answers over the last half of the time.
  double run(const World& world, double seconds) {
    const double begin = now_;
    double good = 0;
    while (now_ < begin + seconds) {
      const double in_flight = std::min(static_cast<double>(governor.limit()), world.demand);
      double rate = std::min(in_flight / world.first_byte, world.capacity);
      rate *= 1 + random_.uniform(-world.noise, world.noise);
      const double latency = std::max(world.first_byte, in_flight / rate);
      const double refused = std::max(0.0, 1 - world.quota / rate);
      now_ += 1 / rate;
      const bool throttled = random_.uniform() < refused;
      if (!throttled && now_ > begin + seconds / 2) good += 1;
      governor.ended(Nanos(static_cast<std::int64_t>(now_ * 1e9)),
                     {.bytes = throttled ? 0U : 110'000U,
                      .latency = Nanos(static_cast<std::int64_t>(latency * 1e9)),
                      .throttled = throttled,
                      .saturated = in_flight >= static_cast<double>(governor.limit())});
    }
    return good / (seconds / 2);
  }

  Governor governor;

 private:
  double now_ = 0;
  Random random_{7};
};

TEST(Governor, FindsAsManyAsTheWireCarriesAndNotManyMore) {
  for (const double capacity : {300.0, 1000.0, 3000.0, 6000.0}) {
    for (const double noise : {0.0, 0.05}) {
      Trial trial;
      const World world{.capacity = capacity, .noise = noise};
      EXPECT_GE(trial.run(world, 60), 0.95 * capacity) << capacity << " " << noise;
      const double enough = capacity * world.first_byte;
      EXPECT_LE(static_cast<double>(trial.governor.limit()), std::max(2.5 * enough, 33.0))
          << capacity << " " << noise;
    }
  }
}

/// Parts of 8 MiB, behind 30 ms and 85 MB/s a connection, on links of any width.
TEST(Governor, OfLargePartsItFindsWhatTheBestOfASweepReaches) {
  constexpr double kPart = 8 << 20;
  constexpr double kTime = 0.03 + kPart / 85e6;
  for (const double link : {50e6, 300e6, 1.25e9, 3e9, 12e9}) {
    for (const double noise : {0.0, 0.05}) {
      const World world{.capacity = link / kPart, .first_byte = kTime, .noise = noise};
      const double best = std::min(world.capacity, 256 / kTime);  // with 256 connections
      Trial trial;
      EXPECT_GE(trial.run(world, 60), 0.95 * best) << link << " " << noise;
    }
  }
}

TEST(Governor, IsThereWithinSeconds) {
  Trial trial;
  trial.run({.capacity = 1e9}, 4);
  EXPECT_EQ(trial.governor.limit(), 256U);
}

TEST(Governor, WhereNobodyWaitsForAnotherItIsThereInAFewRoundTrips) {
  Trial trial;
  trial.run({.capacity = 1e9}, 0.3);  // ten round trips
  EXPECT_EQ(trial.governor.limit(), 256U);
}

TEST(Governor, AFullWireIsNotTakenForAGain) {
  Trial trial;
  trial.run({.capacity = 1000}, 10);
  EXPECT_LE(trial.governor.limit(), 64U);
}

TEST(Governor, FewAreEnoughWhereOneAnswersAtOnce) {
  Trial trial;
  EXPECT_GE(trial.run({.capacity = 3000, .first_byte = 0.0003}, 120), 0.95 * 3000);
  EXPECT_LE(trial.governor.limit(), 32U);
}

TEST(Governor, ThrottlingCutsItAndNearlyTheQuotaIsStillUsed) {
  Trial trial;
  const World world{.capacity = 1e9, .quota = 2000};
  const double rate = trial.run(world, 60);
  EXPECT_GE(rate, 0.8 * 2000);
  EXPECT_LE(static_cast<double>(trial.governor.limit()), 2 * 2000 * world.first_byte);
}

TEST(Governor, AfterABurstOf503ItIsBackWithinAMinute) {
  Trial trial;
  const World calm{.capacity = 3000};
  const double before = trial.run(calm, 30);
  trial.run({.capacity = 3000, .quota = 200}, 5);
  EXPECT_LT(trial.governor.limit(), 40U);
  trial.run(calm, 30);
  EXPECT_GE(trial.run(calm, 30), 0.95 * before);
}

TEST(Governor, FollowsANetworkThatWidensAndNarrows) {
  Trial trial;
  trial.run({.capacity = 500}, 30);
  EXPECT_GE(trial.run({.capacity = 4000}, 120), 0.95 * 4000);
  trial.run({.capacity = 500}, 240);
  EXPECT_LE(trial.governor.limit(), 60U);
}

TEST(Governor, LearnsNothingWhileLittleIsWanted) {
  Trial trial;
  trial.run({.capacity = 3000}, 30);
  const auto before = trial.governor.limit();
  trial.run({.capacity = 3000, .demand = 2}, 60);
  EXPECT_EQ(trial.governor.limit(), before);
}

TEST(Governor, KeepsItsBounds) {
  Trial trial({.begin = 8, .least = 2, .most = 16});
  trial.run({.capacity = 1e9}, 5);
  EXPECT_EQ(trial.governor.limit(), 16U);
  trial.run({.capacity = 1e9, .quota = 1}, 20);
  EXPECT_EQ(trial.governor.limit(), 2U);
}

}  // namespace
}  // namespace headrace::s3
