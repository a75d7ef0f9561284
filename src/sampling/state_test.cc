// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/state.h"

#include <gtest/gtest.h>

#include <array>

namespace headrace {
namespace {

State example() {
  return {.seed = 7,
          .shuffle = Shuffle::global,
          .epoch = 2,
          .position = 640,
          .samples = 2000,
          .global_batch = 64,
          .rank = 1,
          .world = 2,
          .tail = "pad",
          .fingerprint = "0123",
          .transform = "center_crop 224x224 resize 256",
          .ledger = {.asked = 10,
                     .delivered = 5,
                     .substituted = 2,
                     .skipped = 2,
                     .dropped = 1,
                     .padded = 3,
                     .quarantined = 4},
          .order_digest = {1, ~std::uint64_t{0}},
          .set_digest = {2, 3}};
}

TEST(State, GoesThroughItsText) {
  const auto parsed = State::parse(example().to_text());
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(*parsed, example());
}

TEST(State, KeepsAnEmptyValue) {
  auto state = example();
  state.transform = "";
  const auto parsed = State::parse(state.to_text());
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->transform, "");
}

TEST(State, LeavesUnknownKeysAlone) {
  EXPECT_EQ(*State::parse(example().to_text() + "colour blue\n\nnovalue\n"), example());
}

TEST(State, RefusesAnotherVersionAndDamage) {
  const std::string text = example().to_text();
  const auto with = [&text](std::string_view from, std::string_view to) {
    auto changed = text;
    return State::parse(changed.replace(changed.find(from), from.size(), to));
  };
  EXPECT_NE(with("headrace-state 1", "headrace-state 2").error().cause().find("headrace-state 2"),
            std::string::npos);
  EXPECT_FALSE(with("order-version 1", "order-version 9").ok());
  EXPECT_FALSE(with("seed 7", "seed seven").ok());
  EXPECT_FALSE(with("seed 7", "seed 99999999999999999999").ok());
  EXPECT_FALSE(with("shuffle global", "shuffle deck").ok());
  EXPECT_FALSE(with("set-digest 0", "set-digest x").ok());
  EXPECT_FALSE(with("position ", "posture ").ok());
  EXPECT_FALSE(State::parse("").ok());
}

TEST(State, OfAllRanksMergesIntoTheWholeJobs) {
  std::array<State, 2> ranks{example(), example()};
  ranks[1].rank = 0;
  ranks[1].order_digest = {0, 1};
  const auto whole = merge(ranks);
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_EQ(whole->rank, 0U);
  EXPECT_EQ(whole->world, 1U);
  EXPECT_EQ(whole->ledger.delivered, 10U);
  EXPECT_EQ(whole->order_digest, (Hash128{2, 0}));
  EXPECT_EQ(whole->position, 640U);
}

TEST(State, OfOtherJobsOrMomentsDoesNotMerge) {
  std::array<State, 2> ranks{example(), example()};
  EXPECT_FALSE(merge(ranks).ok()) << "rank 1 twice";
  ranks[1].rank = 0;
  EXPECT_TRUE(merge(ranks).ok());
  EXPECT_FALSE(merge(std::span(ranks).first(1)).ok()) << "rank 0 is missing";
  EXPECT_FALSE(merge({}).ok());
  ranks[1].position = 704;
  EXPECT_FALSE(merge(ranks).ok());
  ranks[1] = ranks[0];
  ranks[1].rank = 0;
  ranks[1].seed = 8;
  EXPECT_FALSE(merge(ranks).ok());
}

TEST(State, GivesTheSumsToOneRankOnly) {
  auto whole = example();
  whole.rank = 0;
  whole.world = 1;
  Ledger sum;
  for (std::uint64_t rank = 0; rank < 3; ++rank) {
    const auto mine = state_for_rank(whole, rank, 3);
    ASSERT_TRUE(mine.ok());
    EXPECT_EQ(mine->position, whole.position);
    EXPECT_EQ(mine->rank, rank);
    EXPECT_EQ(mine->world, 3U);
    sum += mine->ledger;
  }
  EXPECT_EQ(sum, whole.ledger);
  EXPECT_EQ(*state_for_rank(example(), 1, 2), example());
  EXPECT_FALSE(state_for_rank(example(), 0, 2).ok()) << "another rank's state";
  EXPECT_FALSE(state_for_rank(example(), 1, 3).ok());
}

}  // namespace
}  // namespace headrace
