// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/shaped/shaped_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/shaped/rate.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace {
namespace {

using namespace std::chrono_literals;

constexpr double kSecond = 1e9;

struct Shaped {
  MemoryStore memory;
  std::unique_ptr<Store> store;
};

const bool kConformance = testing::register_store_conformance(
    {.name = "shaped", .make = [](const Context& context) {
       auto world = std::make_shared<Shaped>();
       const Medium medium{.first_byte_median_ms = 0.01,
                           .metadata_ms = 0.01,
                           .rate_per_connection_MBps = 5000,
                           .rate_total_MBps = 10'000,
                           .requests_per_second = 1e6};
       return testing::StoreWorld::Made{world, make_shaped_store(world->memory, medium, context)};
     }});
const bool kConformanceOfOneStream = testing::register_store_conformance(
    {.name = "shaped_stream", .make = [](const Context& context) {
       auto world = std::make_shared<Shaped>();
       const Medium medium{
           .first_byte_median_ms = 0.01, .rate_total_MBps = 10'000, .one_stream = true};
       return testing::StoreWorld::Made{world, make_shaped_store(world->memory, medium, context)};
     }});

TEST(SharedRate, OneAfterTheOther) {
  SharedRate rate(100, {});
  EXPECT_EQ(rate.take(0, 50).end, 0.5 * kSecond);
  EXPECT_EQ(rate.take(0, 50).begin, 0.5 * kSecond);
  EXPECT_EQ(rate.take(3 * kSecond, 100).end, 4 * kSecond) << "an idle rate does not save up";
}

TEST(SharedRate, NoLimitTakesNoTime) {
  SharedRate rate(0, {});
  EXPECT_EQ(rate.take(7, 1e12).end, 7);
}

TEST(SharedRate, BurstsUntilTheCreditsAreSpent) {
  // 100 a second while there are credits, 10 earned: 900 credits last 10 s and let 1000 through.
  SharedRate rate(0, {.baseline = 10, .burst = 100, .start = 900, .cap = 900});
  EXPECT_NEAR(rate.take(0, 1000).end, 10 * kSecond, 1);
  EXPECT_NEAR(rate.credits(), 0, 1e-6);
  EXPECT_NEAR(rate.take(0, 10).end, 11 * kSecond, 1) << "dry: the baseline";
  EXPECT_NEAR(rate.take(101 * kSecond, 100).end, 102 * kSecond, 1) << "900 were earned in 90 s";
  EXPECT_NEAR(rate.take(0, 1800).end, 102 * kSecond + 9e9 + 90e9, 10) << "9 s fast, then dry";
}

TEST(SharedRate, CreditsHaveACap) {
  SharedRate rate(0, {.baseline = 10, .burst = 100, .start = 0, .cap = 90});
  EXPECT_NEAR(rate.take(1000 * kSecond, 110).end, 1000 * kSecond + 1e9 + 1e9, 1);
}

TEST(SharedRate, TheLowerLimitHolds) {
  SharedRate rate(50, {.baseline = 10, .burst = 100, .start = 40, .cap = 40});
  EXPECT_NEAR(rate.take(0, 60).end, 2 * kSecond, 1) << "1 s at 50, then 10 more at 10";
}

TEST(FirstByte, IsAFunctionOfSeedAndCounter) {
  const Medium medium{.first_byte_median_ms = 30, .first_byte_p99_ms = 200};
  std::vector<double> drawn;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    drawn.push_back(first_byte_ms(medium, 7, i));
    EXPECT_EQ(drawn.back(), first_byte_ms(medium, 7, i));
  }
  EXPECT_NE(first_byte_ms(medium, 7, 0), first_byte_ms(medium, 8, 0));
  std::ranges::sort(drawn);
  EXPECT_NEAR(drawn[10'000], 30, 1);
  EXPECT_NEAR(drawn[19'800], 200, 25);
  EXPECT_EQ(first_byte_ms({.first_byte_median_ms = 5}, 1, 1), 5);
}

TEST(Medium, ScaledCreditsKeepTheRates) {
  const Medium small = scaled({.rate_total_MBps = 8,
                               .throughput_credits = {.burst = 4, .start = 100, .cap = 200},
                               .request_credits = {.start = 10}},
                              0.01);
  EXPECT_EQ(small.rate_total_MBps, 8);
  EXPECT_EQ(small.throughput_credits.burst, 4);
  EXPECT_EQ(small.throughput_credits.start, 1);
  EXPECT_EQ(small.throughput_credits.cap, 2);
  EXPECT_EQ(small.request_credits.start, 0.1);
}

/// Reads of objects of `size` bytes through a medium, by a clock that only the test moves.
class ShapedStoreTest : public ::testing::Test {
 protected:
  void open(const Medium& medium, std::size_t size = 1'000'000) {
    const std::vector<std::byte> content(size);
    pin_ = *put(base_, "a", content, {});
    store_ = make_shaped_store(base_, medium, context_);
  }
  void read(const std::stop_token& stop = {}, std::uint64_t length = ByteRange::kToEnd) {
    store_->read({.key = "a", .range = {0, length}, .pin = pin_, .stop = stop},
                 [this](Result<ReadResult> result) {
                   const MutexLock lock(mutex_);
                   times_.push_back(clock_.now());
                   failed_ += result ? 0 : 1;
                   done_.notify_all();
                 });
  }
  /// Moves the clock from one time that the store waits for to the next, until `count` reads are
  /// done, and gives the times at which they were.
  std::vector<Nanos> times_of(std::size_t count) {
    while (true) {
      {
        const MutexLock lock(mutex_);
        if (times_.size() >= count) return times_;
      }
      const Nanos next = clock_.next_wake();
      if (next != Nanos::max() && next > clock_.now()) clock_.advance(next - clock_.now());
      std::this_thread::yield();
    }
  }
  std::size_t done() {
    const MutexLock lock(mutex_);
    return times_.size();
  }

  ManualClock clock_;
  Context context_{.clock = &clock_};
  MemoryStore base_;
  Pin pin_;
  Mutex mutex_;
  Condition done_;
  std::vector<Nanos> times_ HEADRACE_GUARDED_BY(mutex_);
  int failed_ = 0;
  std::unique_ptr<Store> store_;
};

TEST_F(ShapedStoreTest, FirstByteThenTheRateOfOneConnection) {
  open({.first_byte_median_ms = 30, .rate_per_connection_MBps = 100});
  read();
  EXPECT_EQ(times_of(1), (std::vector<Nanos>{40ms}));
}

TEST_F(ShapedStoreTest, ConnectionsRunSideBySide) {
  open({.first_byte_median_ms = 30, .rate_per_connection_MBps = 100});
  for (int i = 0; i < 8; ++i) read();
  EXPECT_EQ(times_of(8), std::vector<Nanos>(8, 40ms));
}

TEST_F(ShapedStoreTest, AllShareTheTotalRate) {
  open({.first_byte_median_ms = 30, .rate_per_connection_MBps = 1000, .rate_total_MBps = 100});
  for (int i = 0; i < 5; ++i) read();
  EXPECT_EQ(times_of(5), (std::vector<Nanos>{40ms, 50ms, 60ms, 70ms, 80ms}));
}

TEST_F(ShapedStoreTest, RequestsBeginAtTheirRate) {
  open({.first_byte_median_ms = 1, .requests_per_second = 100});
  for (int i = 0; i < 3; ++i) read();
  EXPECT_EQ(times_of(3), (std::vector<Nanos>{1ms, 11ms, 21ms}));
}

TEST_F(ShapedStoreTest, ALongReadIsSeveralRequests) {
  open({.first_byte_median_ms = 1, .requests_per_second = 100, .request_KiB = 256}, 1024 * 1024);
  read();
  read();
  EXPECT_EQ(times_of(2), (std::vector<Nanos>{31ms, 71ms}));
}

TEST_F(ShapedStoreTest, OneStreamWaitsOnceAndGoesOn) {
  open({.first_byte_median_ms = 200, .rate_total_MBps = 100, .one_stream = true});
  for (int i = 0; i < 3; ++i) read();
  EXPECT_EQ(times_of(3), (std::vector<Nanos>{210ms, 220ms, 230ms}));
  read();
  EXPECT_EQ(times_of(4).back(), 240ms);
}

TEST_F(ShapedStoreTest, BurstThenBaseline) {
  open({.rate_total_MBps = 1000,
        .throughput_credits = {.baseline = 10, .burst = 100, .start = 0.9, .cap = 0.9}});
  read();
  read();
  EXPECT_EQ(times_of(2), (std::vector<Nanos>{10ms, 110ms}));
}

// 1 MB at 10 MB/s from behind, which both wait for; after that the medium's own 1 ms.
TEST_F(ShapedStoreTest, TheFirstReadWaitsUntilTheObjectIsLoaded) {
  open({.first_byte_median_ms = 1, .load_first_byte_ms = 30, .load_rate_MBps = 10});
  read({}, 10);
  read();
  EXPECT_EQ(times_of(2), (std::vector<Nanos>{130ms, 130ms}));
  read();
  EXPECT_EQ(times_of(3).back(), 131ms);
}

TEST_F(ShapedStoreTest, AnErrorTakesALatencyAndNoBytes) {
  open({.first_byte_median_ms = 30, .rate_total_MBps = 1});
  ASSERT_TRUE(base_.remove("a", {}));
  read();
  EXPECT_EQ(times_of(1), (std::vector<Nanos>{30ms}));
  EXPECT_EQ(failed_, 1);
}

TEST_F(ShapedStoreTest, AStopIsAnsweredAtOnce) {
  open({.first_byte_median_ms = 1000});
  std::stop_source stop;
  read(stop.get_token());
  read();
  stop.request_stop();
  while (done() < 1) std::this_thread::yield();
  EXPECT_EQ(clock_.now(), 0ms);
  EXPECT_EQ(failed_, 1);
  EXPECT_EQ(times_of(2).back(), 1000ms);
}

TEST_F(ShapedStoreTest, NothingToReadTakesNoTime) {
  open({.first_byte_median_ms = 1000});
  read({}, 0);
  EXPECT_EQ(done(), 1U);
}

TEST_F(ShapedStoreTest, HeadAndListWaitForTheMetadata) {
  open({.metadata_ms = 5});
  std::jthread mover([this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Nanos next = clock_.next_wake();
      if (next < 1h && next > clock_.now()) clock_.advance(next - clock_.now());
      std::this_thread::yield();
    }
  });
  EXPECT_TRUE(store_->head("a", {}));
  EXPECT_EQ(clock_.now(), 5ms);
  EXPECT_TRUE(list_all(*store_, "", {}));
  EXPECT_EQ(clock_.now(), 10ms);
}

}  // namespace
}  // namespace headrace
