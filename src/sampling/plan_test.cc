// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace headrace {
namespace {

constexpr Tail kTails[] = {Tail::keep, Tail::drop, Tail::pad, Tail::wrap};

Plan plan_of(const PlanOptions& options) { return *Plan::make(options); }

/// What the ranks of one world deliver in an epoch, and what the plan says about it.
struct World {
  std::vector<int> seen;  ///< how often each position came, padding not counted
  std::uint64_t slots = 0, padded = 0, dropped = 0, shares = 0;
};

World run(const PlanOptions& base) {
  World world{.seen = std::vector<int>(base.samples)};
  for (std::uint64_t rank = 0; rank < base.world; ++rank) {
    auto options = base;
    options.rank = rank;
    const Plan plan = plan_of(options);
    world.dropped += plan.dropped();
    world.shares += plan.share_of_epoch();
    std::uint64_t real = 0;
    for (std::uint64_t step = 0; step < plan.steps(); ++step) {
      const Stretch stretch = plan.stretch(step);
      EXPECT_LE(stretch.count, base.batch);
      EXPECT_LE(stretch.padded, stretch.count);
      EXPECT_TRUE(stretch.count == base.batch || base.tail == Tail::keep);
      for (std::uint64_t slot = 0; slot < stretch.count; ++slot) {
        const auto position = plan.position(stretch, slot);
        EXPECT_LT(position, base.samples);
        if (slot < stretch.count - stretch.padded) {
          world.seen[position] += 1;
          ++real;
          // The global batch of a step is the same for any number of ranks.
          EXPECT_EQ(position / plan.global_batch(), step);
        }
      }
      world.slots += stretch.count;
      world.padded += stretch.padded;
    }
    EXPECT_EQ(real + plan.dropped(), plan.share_of_epoch());
  }
  return world;
}

// Promise O5: With the same global batch, the sequence of global batches is the same for any
// number of ranks.
// asked = delivered + dropped and slots = delivered + padded, for every small combination.
TEST(Plan, DeliversEachSampleOnceForAllRanksSamplesBatchesAndTails) {
  for (std::uint64_t world = 1; world <= 9; ++world) {
    for (std::uint64_t samples = 0; samples <= 40; ++samples) {
      for (std::uint64_t batch = 1; batch <= 50; ++batch) {
        for (const Tail tail : kTails) {
          const World got = run({.samples = samples, .batch = batch, .world = world, .tail = tail});
          const auto rest = samples % (batch * world);
          const auto delivered =
              static_cast<std::uint64_t>(std::count(got.seen.begin(), got.seen.end(), 1));
          ASSERT_EQ(std::count(got.seen.begin(), got.seen.end(), 0),
                    static_cast<std::ptrdiff_t>(tail == Tail::drop ? rest : 0));
          ASSERT_EQ(got.dropped, tail == Tail::drop ? rest : 0);
          ASSERT_EQ(delivered + got.dropped, samples);
          ASSERT_EQ(got.shares, samples);
          ASSERT_EQ(got.slots, delivered + got.padded);
          const bool fills = tail == Tail::pad || tail == Tail::wrap;
          const auto missing = fills && rest != 0 ? batch * world - rest : 0;
          ASSERT_EQ(got.padded, missing);
        }
      }
    }
  }
}

TEST(Plan, SharesAShortStepEvenly) {
  // 19 samples on 4 ranks with batch 3: one full step of 12, then 7 = 2 + 2 + 2 + 1.
  std::vector<std::uint64_t> counts, firsts;
  for (std::uint64_t rank = 0; rank < 4; ++rank) {
    const Plan plan = plan_of({.samples = 19, .batch = 3, .rank = rank, .world = 4});
    ASSERT_EQ(plan.steps(), 2U);
    counts.push_back(plan.stretch(1).count);
    firsts.push_back(plan.stretch(1).first);
  }
  EXPECT_EQ(counts, (std::vector<std::uint64_t>{2, 2, 2, 1}));
  EXPECT_EQ(firsts, (std::vector<std::uint64_t>{12, 14, 16, 18}));
}

TEST(Plan, FewerSamplesThanRanksGivesEmptyBatchesNotFewerSteps) {
  for (std::uint64_t rank = 0; rank < 8; ++rank) {
    const Plan plan = plan_of({.samples = 3, .batch = 2, .rank = rank, .world = 8});
    ASSERT_EQ(plan.steps(), 1U);
    EXPECT_EQ(plan.stretch(0).count, rank < 3 ? 1U : 0U);
  }
}

TEST(Plan, PadsFromTheStartOfTheEpoch) {
  const Plan plan = plan_of({.samples = 3, .batch = 4, .rank = 1, .world = 2, .tail = Tail::pad});
  const Stretch stretch = plan.stretch(0);
  EXPECT_EQ(stretch.padded, 4U);
  EXPECT_EQ(plan.position(stretch, 0), 1U);  // 4 mod 3
  EXPECT_EQ(plan.position(stretch, 3), 1U);  // 7 mod 3
}

TEST(Plan, FindsTheStepToResumeAt) {
  for (const Tail tail : kTails) {
    const Plan plan = plan_of({.samples = 20, .batch = 3, .rank = 1, .world = 2, .tail = tail});
    for (std::uint64_t done = 0; done <= plan.steps(); ++done) {
      EXPECT_EQ(*plan.step_at(plan.position_after(done)), done);
    }
    EXPECT_EQ(plan.step_at(7).error().code(), Code::invalid);
    EXPECT_EQ(plan.step_at(21).error().code(), Code::invalid);
  }
}

TEST(Plan, RefusesWhatCannotBe) {
  EXPECT_EQ(Plan::make({.batch = 0}).error().code(), Code::invalid);
  EXPECT_EQ(Plan::make({.world = 0}).error().code(), Code::invalid);
  EXPECT_EQ(Plan::make({.rank = 2, .world = 2}).error().code(), Code::invalid);
  EXPECT_EQ(Plan::make({.batch = ~std::uint64_t{0}}).error().code(), Code::invalid);
}

TEST(Tail, HasNames) {
  for (const Tail tail : kTails) EXPECT_EQ(*parse_tail(to_string(tail)), tail);
  EXPECT_FALSE(parse_tail("cut").ok());
}

}  // namespace
}  // namespace headrace
