// SPDX-License-Identifier: Apache-2.0
// What processes that share a cache do not fetch twice. Two stores in one process stand for two
// processes: the locks belong to their handles. tests/story/test_keep_shared.py has real ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>
#include <latch>
#include <thread>

#include "headrace/storage/keep/claims.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/keep/local_disk.h"
#include "headrace/storage/keep/patience.h"
#include "headrace/storage/keep/testing/keep_world.h"

namespace headrace {
namespace {

using namespace std::chrono_literals;
using testing::KeepStoreTest;
using testing::pattern;

/// No time passes, so nobody is waited for too long, however slow the machine is; but where a test
/// lets it.
class KeepShare : public KeepStoreTest {
 protected:
  KeepShare() { context_.clock = &clock_; }
  std::future<Result<ReadResult>> start(Store& store, const std::string& key) {
    auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
    store.read({.key = key, .pin = pins_[key]},
               [promise](Result<ReadResult> got) { promise->set_value(std::move(got)); });
    return promise->get_future();
  }
  /// A process that has claimed the object and does nothing more.
  struct Claimant {
    std::unique_ptr<keep::Disk> disk;
    keep::Claims claims;
  };
  std::unique_ptr<Claimant> claim(const std::string& key) {
    auto claimant = std::make_unique<Claimant>();
    claimant->disk = std::move(keep::open_local_disk(dir())->disk);
    EXPECT_TRUE(claimant->claims.open(*claimant->disk, origin_.describe()));
    const Pin& pin = pins_[key];
    EXPECT_TRUE(
        claimant->claims.take({keep::object_id(origin_.describe(), key, pin), 0, pin.size}));
    return claimant;
  }
  void expect_right(Result<ReadResult> got, const std::string& key) {
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_TRUE(got->bytes.text() == pattern(seed_of(key), kSize));
  }

  ManualClock clock_;
};

TEST_F(KeepShare, WhatAnotherFetchesIsWaitedForAndReadFromTheCache) {
  fill_origin(1);
  auto one = open_and_wait();
  auto other = open_and_wait();
  origin_.hold();
  auto first = start(*one, "c/0000");
  while (origin_.reads == 0) std::this_thread::sleep_for(1ms);
  auto second = start(*other, "c/0000");
  std::this_thread::sleep_for(60ms);
  EXPECT_EQ(origin_.reads, 1) << "nobody is waited for so long that a second request pays";
  origin_.release();
  expect_right(first.get(), "c/0000");
  auto got = second.get();
  EXPECT_TRUE(got && got->from_cache);
  expect_right(std::move(got), "c/0000");
  EXPECT_EQ(origin_.reads, 1);
  EXPECT_EQ(other->stats().shared, 1U);
  EXPECT_EQ(context_.metrics->get(Metric::cache_misses), 1U);
  EXPECT_EQ(context_.metrics->get(Metric::cache_hits), 1U);
}

TEST_F(KeepShare, FourThatReadTheSameAtOnceFetchItOnce) {
  fill_origin(300);
  std::vector<std::unique_ptr<KeepStore>> stores;
  stores.reserve(4);
  for (int i = 0; i < 4; ++i) stores.push_back(open_and_wait());
  std::latch all(300L * 4);
  for (const auto& [key, pin] : pins_) {
    for (auto& store : stores) {
      store->read({.key = key, .pin = pin}, [&](const Result<ReadResult>& got) {
        EXPECT_TRUE(got);
        all.count_down();
      });
    }
  }
  all.wait();
  EXPECT_EQ(origin_.reads, 300);
}

TEST_F(KeepShare, WhatOneHasWrittenTheOtherFindsAtOnce) {
  fill_origin(30);
  auto one = open_and_wait();
  auto other = open_and_wait();
  for (const auto& [key, pin] : pins_) {  // no time for the look every 250 ms in between
    EXPECT_TRUE(read_now(*one, {.key = key, .pin = pin}));
    one->flush();
    EXPECT_TRUE(read_now(*other, {.key = key, .pin = pin})->from_cache) << key;
  }
  EXPECT_EQ(origin_.reads, 30);
}

TEST_F(KeepShare, AProcessThatDiedWithItsClaimLeavesNothing) {
  fill_origin(1);
  auto store = open_and_wait();
  auto dead = claim("c/0000");
  auto read = start(*store, "c/0000");
  EXPECT_EQ(read.wait_for(60ms), std::future_status::timeout);
  dead.reset();  // the kernel takes its locks
  expect_right(read.get(), "c/0000");
  EXPECT_EQ(origin_.reads, 1);
}

TEST_F(KeepShare, AProcessThatStandsStillBlocksNobody) {
  fill_origin(40);
  auto store = open_and_wait();
  for (int i = 1; i < 40; ++i)  // what a fetch takes is known
    expect_right(start(*store, fmt::format("c/{:04}", i)).get(), fmt::format("c/{:04}", i));
  store->flush();
  const auto still = claim("c/0000");
  auto read = start(*store, "c/0000");
  while (read.wait_for(1ms) != std::future_status::ready) clock_.advance(100ms);
  expect_right(read.get(), "c/0000");
  EXPECT_EQ(origin_.reads, 40);
  store->flush();
  EXPECT_EQ(epoch(*store), 40) << "and what came is kept all the same";
}

TEST_F(KeepShare, WhoStopsWaitingIsAnswered) {
  fill_origin(1);
  auto store = open_and_wait();
  const auto still = claim("c/0000");
  std::stop_source stop;
  std::promise<Code> code;
  store->read({.key = "c/0000", .pin = pins_["c/0000"], .stop = stop.get_token()},
              [&](const Result<ReadResult>& got) {
                code.set_value(got ? Code::invalid : got.error().code());
              });
  stop.request_stop();
  EXPECT_EQ(code.get_future().get(), Code::cancelled);
  auto late = start(*store, "c/0000");
  store.reset();
  std::ignore = late.get().ok();  // answered, whatever it is
}

TEST_F(KeepShare, NoClaimOutlivesItsFetch) {
  fill_origin(50);
  auto store = open_and_wait();
  auto watcher = open_and_wait();  // so that nobody is alone
  epoch(*store);
  store->flush();
  for (const auto& [key, pin] : pins_) std::ignore = claim(key);  // expects to get it
}

TEST(KeepPatience, IsAsLongAsAFetchTakesButForRareOnes) {
  keep::Patience patience;
  EXPECT_GE(patience.limit(), 1s);
  for (int i = 0; i < 1000; ++i) patience.learn(i % 2 == 0 ? 1400ms : 1200ms);
  EXPECT_GT(patience.limit(), 1400ms);
  EXPECT_LT(patience.limit(), 2500ms);
  for (int i = 0; i < 1000; ++i) patience.learn(60s);
  EXPECT_LE(patience.limit(), 5s) << "a slow origin is no reason to wait for ever";
}

TEST(KeepPatience, IsLostWithWhoStandsStill) {
  keep::Patience patience;
  const Nanos first = patience.limit();
  for (int i = 0; i < 100; ++i) patience.ran_out();
  EXPECT_LE(patience.limit(), first / 20);
  EXPECT_GT(patience.limit(), Nanos{0});
  patience.paid_off();
  EXPECT_EQ(patience.limit(), first);
}

}  // namespace
}  // namespace headrace
