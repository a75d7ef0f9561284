// SPDX-License-Identifier: Apache-2.0
// Samples that are bad, and objects that are out of reach: what each policy makes of them.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "headrace/loader/testing/world.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::Delivered;
using testing::drain;
using testing::small_job;
using testing::World;

Delivered run(World& world, const LoaderOptions& options) {
  auto loader = world.loader(options);
  EXPECT_TRUE(loader.ok());
  auto got = drain(**loader, options.epochs);
  if (got.error) {  // the first error stays
    EXPECT_EQ((*loader)->next({}).error().to_string(), got.error->to_string());
  }
  return got;
}

TEST(BadSamples, StopTheJobAtTheirBatchAndAreNamed) {
  World world(20);
  const auto options = small_job();
  const Order order(options.shuffle, options.seed, 0, 20);
  const std::string key = world.key(order.at(9));  // in the third batch of four
  world.store.fail(key, Code::corrupt);
  const auto got = run(world, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::corrupt);
  EXPECT_NE(got.error->to_string().find(key), std::string::npos);
  EXPECT_FALSE(got.error->remedy().empty());
  EXPECT_EQ(got.batches, (std::vector<std::size_t>{4, 4})) << "good batches before are delivered";
}

// Promise L3: A skipped sample leaves its place out: that batch is shorter, the number of
// batches stays, no other sample moves.
TEST(BadSamples, SkippedLeaveEveryOtherInItsBatch) {
  World world(20);
  auto options = small_job();
  options.on_bad = OnBad::skip;
  const Order order(options.shuffle, options.seed, 0, 20);
  for (const std::uint64_t bad : {0U, 5U, 6U, 19U}) {
    world.store.fail(world.key(order.at(bad)), Code::corrupt);
  }
  const auto got = run(world, options);
  ASSERT_FALSE(got.error);
  EXPECT_EQ(got.batches, (std::vector<std::size_t>{3, 2, 4, 4, 3}));
  EXPECT_EQ(got.epochs[0].ledger, (Ledger{.asked = 20, .delivered = 16, .skipped = 4}));
  std::vector<std::uint64_t> positions;
  for (const Slot& slot : got.slots) {
    positions.push_back(slot.position);
    EXPECT_EQ(slot.sample_id, order.at(slot.position));
  }
  EXPECT_EQ(positions,
            (std::vector<std::uint64_t>{1, 2, 3, 4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18}));
}

TEST(BadSamples, AWholeBatchOfThemIsEmptyNotMissing) {
  World world(8);
  auto options = small_job();
  options.on_bad = OnBad::skip;
  options.shuffle = Shuffle::none;
  for (std::uint64_t bad = 0; bad < 4; ++bad) world.store.fail(world.key(bad), Code::corrupt);
  EXPECT_EQ(run(world, options).batches, (std::vector<std::size_t>{0, 4}));
}

// L4 A substitute depends on the seed, the epoch and the position only.
TEST(BadSamples, HaveTheSameSubstituteOnAnyRank) {
  World world(24);
  auto options = small_job();
  options.on_bad = OnBad::substitute;
  const Order order(options.shuffle, options.seed, 0, 24);
  std::set<std::uint64_t> bad;
  for (const std::uint64_t position : {3U, 4U, 17U}) {
    bad.insert(order.at(position));
    world.store.fail(world.key(order.at(position)), Code::corrupt);
  }
  std::map<std::uint64_t, std::uint64_t> wanted;  // position → sample
  for (std::uint64_t position = 0; position < 24; ++position) {
    std::uint64_t sample = order.at(position);
    for (unsigned attempt = 0; bad.count(sample) != 0; ++attempt) {
      sample = order.substitute(position, attempt);
    }
    wanted[position] = sample;
  }
  for (const std::uint64_t ranks : {1U, 2U, 4U}) {
    std::map<std::uint64_t, std::uint64_t> got;
    Ledger sum;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      options.world = ranks;
      options.rank = rank;
      const auto delivered = run(world, options);
      ASSERT_FALSE(delivered.error) << delivered.error->to_string();
      sum += delivered.epochs[0].ledger;
      for (const Slot& slot : delivered.slots) {
        got[slot.position] = slot.sample_id;
        EXPECT_EQ(slot.substitute, bad.count(order.at(slot.position)) != 0);
      }
    }
    EXPECT_EQ(got, wanted);
    EXPECT_EQ(sum, (Ledger{.asked = 24, .delivered = 21, .substituted = 3}));
  }
}

TEST(BadSamples, EndInAnErrorWhenEightSubstitutesAreBadToo) {
  World world(20);
  auto options = small_job();
  options.on_bad = OnBad::substitute;
  for (std::uint64_t i = 0; i < 20; ++i) world.store.fail(world.key(i), Code::corrupt);
  const auto got = run(world, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::corrupt);
  EXPECT_NE(got.error->to_string().find("8 substitutes"), std::string::npos);
  EXPECT_TRUE(got.batches.empty());
}

// Promise L7: What looks damaged is read once more past every cache before it is called bad.
TEST(BadSamples, AreReadOnceMorePastEveryCacheBeforeTheyAreCalledSo) {
  World world(10);
  const std::string key = world.key(3);
  world.store.fail(key, Code::corrupt, -1, true);
  const auto got = run(world, small_job());
  ASSERT_FALSE(got.error) << got.error->to_string();
  EXPECT_EQ(got.epochs[0].ledger.delivered, 10U);
  int looks = 0, fresh = 0;
  for (const auto& read : world.store.reads()) {
    if (read.key != key) continue;
    ++looks;
    fresh += read.fresh ? 1 : 0;
  }
  EXPECT_EQ(looks, 2);
  EXPECT_EQ(fresh, 1);
  const auto notices = world.context.notices->all();
  EXPECT_TRUE(std::any_of(notices.begin(), notices.end(), [](const Notice& notice) {
    return notice.kind == "read-again";
  })) << "a machine that reads wrongly once must be known";
}

// Promise L6: A failure that may pass is retried and then fails the job; it is never skipped.
TEST(BadSamples, AreNeverWhatMaySucceedLaterOrWasReplaced) {
  for (const Code code : {Code::unavailable, Code::changed, Code::denied, Code::exhausted}) {
    for (const OnBad policy : {OnBad::skip, OnBad::substitute}) {
      World world(10);
      auto options = small_job();
      options.on_bad = policy;
      world.store.fail(world.key(3), code);
      const auto got = run(world, options);
      ASSERT_TRUE(got.error) << to_string(code);
      EXPECT_EQ(got.error->code(), code);
    }
  }
}

TEST(BadSamples, CanBeObjectsThatAreGone) {
  World world(10);
  auto options = small_job();
  options.on_bad = OnBad::skip;
  ASSERT_TRUE(world.store.remove(world.key(3), {}).ok());
  EXPECT_EQ(run(world, options).epochs.at(0).ledger.skipped, 1U);
}

TEST(BadSamples, InPaddingMoveNothingAndAreInNoSum) {
  World world(5);
  auto options = small_job();
  options.tail = Tail::pad;
  options.shuffle = Shuffle::none;
  options.on_bad = OnBad::skip;
  world.store.fail(world.key(1), Code::corrupt);  // position 1, and padding at 6
  const auto got = run(world, options);
  EXPECT_EQ(got.batches, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(got.epochs[0].ledger, (Ledger{.asked = 5, .delivered = 4, .skipped = 1, .padded = 2}));
}

TEST(BadSamples, AreAnErrorOnceTheyAreMoreThanAllowed) {
  World world(20);
  auto options = small_job();
  options.on_bad = OnBad::skip;
  options.shuffle = Shuffle::none;
  options.max_bad = 0.1;
  world.store.fail(world.key(1), Code::corrupt);
  world.store.fail(world.key(9), Code::corrupt);
  EXPECT_FALSE(run(world, options).error) << "2 of 20 are allowed";
  world.store.fail(world.key(17), Code::corrupt);
  const auto got = run(world, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::corrupt);
  EXPECT_EQ(got.batches.size(), 4U) << "up to the batch with the third, whatever the threads do";
}

// Promise L5: A bad sample is never delivered, and is named in the quarantine file.
TEST(BadSamples, AreListedOnceWithPlaceAndReason) {
  const testing::TemporaryFolder folder;
  World world(10);
  auto options = small_job();
  options.epochs = 2;
  options.on_bad = OnBad::skip;
  options.uri = "memory://set";
  options.quarantine = (folder.path() / "bad.jsonl").string();
  world.store.fail(world.key(3), Code::corrupt);
  const auto got = run(world, options);
  EXPECT_EQ(got.epochs.at(0).ledger.quarantined, 1U);
  EXPECT_EQ(got.epochs.at(1).ledger.quarantined, 1U);
  std::ifstream file(options.quarantine);
  std::uint64_t lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["uri"], "memory://set");
    EXPECT_EQ(json["object"], world.key(3));
    EXPECT_EQ(json["sample"], 3);
    EXPECT_EQ(json["epoch"], lines);
    EXPECT_EQ(json["offset"], 0);
    EXPECT_EQ(json["bytes"], world.dataset->frame_bytes(SampleId{3}));
    EXPECT_EQ(json["code"], "corrupt");
    EXPECT_EQ(json["reason"], "as the test wrote");
    const Order order(options.shuffle, options.seed, lines, 10);
    EXPECT_EQ(json["position"], order.find(3));
  }
  EXPECT_EQ(lines, 2U);
}

// Promise L8: The sample that ends a job is named in the quarantine file, too.
TEST(BadSamples, ThatEndTheJobAreListedToo) {
  for (const OnBad policy : {OnBad::error, OnBad::substitute}) {
    const testing::TemporaryFolder folder;
    World world(10);
    auto options = small_job();
    options.on_bad = policy;
    options.shuffle = Shuffle::none;
    options.quarantine = (folder.path() / "bad.jsonl").string();
    for (std::uint64_t i = policy == OnBad::error ? 3 : 0; i < 10; ++i)
      world.store.fail(world.key(i), Code::corrupt);
    const auto got = run(world, options);
    ASSERT_TRUE(got.error);
    std::ifstream file(options.quarantine);
    std::string line;
    ASSERT_TRUE(std::getline(file, line));
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["record"], 0);
    EXPECT_EQ(json["name"], world.dataset->name(SampleId{json["sample"].get<std::uint64_t>()}));
    EXPECT_FALSE(std::getline(file, line)) << "one line for the one that ended it";
  }
}

TEST(BadSamples, ThatCannotBeListedStopTheJob) {
  World world(10);
  auto options = small_job();
  options.on_bad = OnBad::skip;
  options.quarantine = "/dev/full";
  world.store.fail(world.key(3), Code::corrupt);
  const auto got = run(world, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::exhausted);
}

// Promise L1: In every epoch asked is delivered, substituted, skipped and dropped together.
// asked = delivered + substituted + skipped + dropped;
// slots = delivered + substituted + padded.
TEST(BadSamples, LeaveTheLedgersSumsRight) {
  for (const std::uint64_t samples : {1U, 2U, 7U, 12U, 25U}) {
    World world(samples);
    std::uint64_t bad = 0;
    for (std::uint64_t i = 0; i < samples; i += 5) {
      world.store.fail(world.key(i), Code::corrupt);
      ++bad;
    }
    for (const std::uint64_t ranks : {1U, 2U, 3U, 9U}) {
      for (const std::uint64_t batch : {1U, 3U, 8U, 50U}) {
        for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad}) {
          for (const OnBad policy : {OnBad::skip, OnBad::substitute}) {
            Ledger sum;
            std::uint64_t slots = 0;
            bool failed = false;
            for (std::uint64_t rank = 0; rank < ranks; ++rank) {
              auto options = small_job();
              options.on_bad = policy;
              options.batch = batch;
              options.rank = rank;
              options.world = ranks;
              options.tail = tail;
              const auto got = run(world, options);
              failed = failed || got.error;
              if (got.error) continue;
              sum += got.epochs[0].ledger;
              slots += got.slots.size();
            }
            if (failed) {  // a set of bad samples only has no substitutes
              ASSERT_EQ(policy, OnBad::substitute);
              ASSERT_LE(samples, 2U);
              continue;
            }
            ASSERT_EQ(sum.asked, samples);
            ASSERT_EQ(sum.asked, sum.delivered + sum.substituted + sum.skipped + sum.dropped);
            ASSERT_EQ(slots, sum.delivered + sum.substituted + sum.padded);
            ASSERT_TRUE(tail == Tail::drop || sum.skipped + sum.substituted == bad);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
