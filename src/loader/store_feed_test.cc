// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headrace/loader/feed.h"
#include "headrace/loader/testing/world.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace {
namespace {

using testing::drain;
using testing::FixedRecords;
using testing::ScriptedStore;
using testing::small_job;

TEST(StoreFeed, JoinsRangesThatLieSideBySide) {
  ScriptedStore store(0);
  const FixedRecords data(store, 100, 64);
  const auto feed = make_store_feed(store, data);
  const std::string content = testing::pattern(100, 6400);
  int done = 0;
  const auto fetch = [&](std::uint64_t id, bool out_of_order = false) {
    feed->fetch({.sample = SampleId{id}, .out_of_order = out_of_order},
                [&done, &content, id](Result<Bytes> got) {
                  ASSERT_TRUE(got.ok());
                  EXPECT_EQ(got->text(), content.substr(id * 64, 64));
                  ++done;
                });
  };
  for (const std::uint64_t id : {5U, 6U, 7U}) fetch(id);
  EXPECT_EQ(done, 0) << "held back";
  fetch(50, true);
  EXPECT_EQ(done, 1) << "out of order: at once";
  fetch(9);
  EXPECT_EQ(done, 4) << "a gap ends the run";
  feed->flush();
  EXPECT_EQ(done, 5);
  const auto reads = store.reads();
  ASSERT_EQ(reads.size(), 3U);
  EXPECT_EQ(reads[1].range, (ByteRange{5 * 64, 3 * 64}));
  EXPECT_TRUE(reads[1].pin.has_value());
}

TEST(StoreFeed, CutsRunsAtAMebibyte) {
  ScriptedStore store(0);
  const FixedRecords data(store, 3, 400'000);
  const auto feed = make_store_feed(store, data);
  for (std::uint64_t id = 0; id < 3; ++id) {
    feed->fetch({.sample = SampleId{id}}, [](Result<Bytes> got) { EXPECT_TRUE(got.ok()); });
  }
  feed->flush();
  ASSERT_EQ(store.reads().size(), 2U);
  EXPECT_EQ(store.reads()[0].range.length, 800'000U);
}

TEST(StoreFeed, FailsEveryPartOfARun) {
  ScriptedStore store(0);
  const FixedRecords data(store, 3, 64);
  store.fail("records", Code::unavailable);
  const auto feed = make_store_feed(store, data);
  int failed = 0;
  for (std::uint64_t id = 0; id < 3; ++id) {
    feed->fetch({.sample = SampleId{id}}, [&failed](Result<Bytes> got) {
      EXPECT_EQ(got.error().code(), Code::unavailable);
      ++failed;
    });
  }
  feed->flush();
  EXPECT_EQ(failed, 3);
}

TEST(StoreFeed, ReadsUnshuffledRecordsInRuns) {
  ScriptedStore store;
  const FixedRecords data(store, 1000, 64);
  const auto feed = make_store_feed(store, data);
  auto options = small_job();
  options.batch = 50;
  options.max_requests = 256;
  options.shuffle = Shuffle::none;
  auto loader = Loader::make({}, *feed, data, options);
  const auto got = drain(**loader, 1);
  EXPECT_EQ(got.epochs.at(0).ledger.delivered, 1000U);
  EXPECT_LE(store.reads().size(), 500U) << "20 if nothing has to wait";
}

// A run that is held back must not wait for bytes or requests that it itself holds.
TEST(StoreFeed, DoesNotDeadlockUnderTinyLimits) {
  ScriptedStore store;
  const FixedRecords data(store, 200, 64);
  const auto feed = make_store_feed(store, data);
  for (const unsigned requests : {1U, 3U}) {
    for (const std::uint64_t budget : {1U, 1500U}) {
      auto options = small_job();
      options.shuffle = Shuffle::none;
      options.max_requests = requests;
      options.budget_bytes = budget;
      auto loader = Loader::make({}, *feed, data, options);
      EXPECT_EQ(drain(**loader, 1).epochs.at(0).ledger.delivered, 200U);
    }
  }
}

}  // namespace
}  // namespace headrace
