// SPDX-License-Identifier: Apache-2.0
// A job that was broken off and resumed ends with the digests of an unbroken one.
#include <gtest/gtest.h>

#include "headrace/loader/testing/world.h"

namespace headrace {
namespace {

using testing::Delivered;
using testing::drain;
using testing::small_job;
using testing::World;

void expect_same(const EpochReport& got, const EpochReport& wanted) {
  EXPECT_EQ(got.epoch, wanted.epoch);
  EXPECT_EQ(got.ledger, wanted.ledger);
  EXPECT_EQ(got.order_digest, wanted.order_digest);
  EXPECT_EQ(got.set_digest, wanted.set_digest);
}

LoaderOptions three_epochs() {
  auto options = small_job();
  options.epochs = 3;
  options.on_bad = OnBad::substitute;
  return options;
}

/// The state after so many calls of next().
State broken_off(World& world, const LoaderOptions& options, std::uint64_t calls) {
  auto loader = world.loader(options);
  for (std::uint64_t i = 0; i < calls; ++i) EXPECT_TRUE((*loader)->next({}).ok());
  return *State::parse((*loader)->state().to_text());
}

Delivered go_on(World& world, const LoaderOptions& options, const State& state) {
  auto loader = world.loader(options, state);
  EXPECT_TRUE(loader.ok()) << loader.error().to_string();
  return drain(**loader, options.epochs - state.epoch);
}

/// Breaks off after each batch and each epoch's end, and goes on with another number of threads.
void break_off_everywhere(Tail tail, OnBad on_bad) {
  World world(22);
  world.store.fail(world.key(4), Code::corrupt);
  auto options = three_epochs();
  options.tail = tail;
  options.on_bad = on_bad;
  auto whole = world.loader(options);
  const auto unbroken = drain(**whole, 3);
  ASSERT_EQ(unbroken.epochs.at(0).ledger.skipped != 0, on_bad == OnBad::skip);
  const std::uint64_t calls = 3 * ((*whole)->steps_per_epoch() + 1);
  for (std::uint64_t at = 0; at <= calls; ++at) {
    const State state = broken_off(world, options, at);
    options.threads = 1 + static_cast<unsigned>(at * 5 % 17);
    const auto rest = go_on(world, options, state);
    ASSERT_EQ(rest.epochs.size(), 3 - state.epoch);
    for (const EpochReport& report : rest.epochs)
      expect_same(report, unbroken.epochs[report.epoch]);
    // The very slots that were missing follow.
    const std::size_t left = rest.slots.size();
    for (std::size_t i = 0; i < left; ++i) {
      const Slot& wanted = unbroken.slots[unbroken.slots.size() - left + i];
      ASSERT_EQ(rest.slots[i].position, wanted.position);
      ASSERT_EQ(rest.slots[i].sample_id, wanted.sample_id);
    }
  }
}

// Promise S2: A job may be resumed with another number of threads, and of ranks at the same
// global batch.
TEST(Resume, AtEveryBatchOfThreeEpochsWithOtherThreads) {
  for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad})
    break_off_everywhere(tail, OnBad::substitute);
}

// The state counts places of the order, whatever came of them.
TEST(Resume, AtEveryBatchWhereSamplesAreSkipped) { break_off_everywhere(Tail::keep, OnBad::skip); }

TEST(Resume, OfAFinishedJobDeliversNothing) {
  World world(5);
  const auto options = three_epochs();
  auto loader = world.loader(options);
  drain(**loader, 3);
  auto again = world.loader(options, (*loader)->state());
  ASSERT_TRUE(again.ok());
  EXPECT_FALSE((*(*again)->next({})).has_value());
}

/// The sums over all ranks of each epoch from the state on.
std::vector<EpochReport> all_ranks(World& world, LoaderOptions options, std::uint64_t ranks,
                                   std::uint64_t global_batch, const State& state) {
  std::vector<EpochReport> sums;
  options.world = ranks;
  options.batch = global_batch / ranks;
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    options.rank = rank;
    const auto got = go_on(world, options, state);
    sums.resize(got.epochs.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums[i].epoch = got.epochs[i].epoch;
      sums[i].ledger += got.epochs[i].ledger;
      sums[i].order_digest += got.epochs[i].order_digest;
      sums[i].set_digest += got.epochs[i].set_digest;
    }
  }
  return sums;
}

// Promise S2: A job may be resumed with another number of threads, and of ranks at the same
// global batch.
// The same global batch on one, two and three ranks, broken off at every step.
TEST(Resume, WithOtherRanksAtTheSameGlobalBatch) {
  World world(31);
  world.store.fail(world.key(4), Code::corrupt);
  auto options = three_epochs();
  options.batch = 6;
  auto whole = world.loader(options);
  const auto unbroken = drain(**whole, 3);
  for (const std::uint64_t before : {1U, 2U, 3U}) {
    for (const std::uint64_t after : {1U, 2U, 3U}) {
      for (std::uint64_t calls = 0; calls <= 3 * ((*whole)->steps_per_epoch() + 1); ++calls) {
        std::vector<State> states;
        for (std::uint64_t rank = 0; rank < before; ++rank) {
          auto old = options;
          old.rank = rank;
          old.world = before;
          old.batch = 6 / before;
          states.push_back(broken_off(world, old, calls));
        }
        const auto merged = merge(states);
        ASSERT_TRUE(merged.ok()) << merged.error().to_string();
        for (const auto& report : all_ranks(world, options, after, 6, *merged)) {
          expect_same(report, unbroken.epochs[report.epoch]);
        }
      }
    }
  }
}

// Promise S3: A state of another data set, seed, order, mixture or global batch is refused, and the
// difference is named.
TEST(Resume, RefusesAnotherJobAndSaysWhatDiffers) {
  World world(22);
  const auto options = three_epochs();
  const State state = broken_off(world, options, 2);
  const auto refuse = [&](const LoaderOptions& other, Code code, std::string_view word) {
    const auto loader = world.loader(other, state);
    ASSERT_FALSE(loader.ok()) << word;
    EXPECT_EQ(loader.error().code(), code);
    EXPECT_NE(loader.error().to_string().find(word), std::string::npos)
        << loader.error().to_string();
  };
  auto other = options;
  other.seed = 8;
  refuse(other, Code::invalid, "seed 7");
  other = options;
  other.shuffle = Shuffle::none;
  refuse(other, Code::invalid, "shuffle");
  other = options;
  other.batch = 5;
  refuse(other, Code::invalid, "batch");
  other = options;
  other.tail = Tail::drop;
  refuse(other, Code::invalid, "tail");
  other = options;
  other.decode = true;
  refuse(other, Code::invalid, "transform");
  other = options;
  other.first_epoch = 2;
  refuse(other, Code::invalid, "epoch");
  ASSERT_TRUE(put(world.store, "c9/new.jpg", as_byte_span("x"), {}).ok());
  World larger(23);
  const auto loader = larger.loader(options, state);
  ASSERT_FALSE(loader.ok());
  EXPECT_EQ(loader.error().code(), Code::changed);
}

}  // namespace
}  // namespace headrace
