// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/loader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "headrace/loader/testing/world.h"

namespace headrace {
namespace {

using testing::drain;
using testing::small_job;
using testing::World;

/// The digests as docs/SEMANTICS.md defines them, without the loader.
EpochReport expected(const World& world, const LoaderOptions& options, std::uint64_t epoch) {
  EpochReport report{.epoch = epoch};
  const Dataset& data = *world.dataset;
  const Order order(options.shuffle, options.seed, epoch, data.size());
  for (std::uint64_t position = 0; position < data.size(); ++position) {
    const SampleId id{order.at(position)};
    const Extent extent = data.locate(id);
    auto& store = const_cast<World&>(world).store;
    const auto read = read_now(store, {.key = extent.key, .range = extent.range});
    const auto sample = data.parse(id, read->bytes);
    const Hash128 payload = hash_bytes(sample->payload.span());
    report.set_digest += set_term(sample->labels, payload);
    report.order_digest +=
        order_term(position, static_cast<std::uint64_t>(id), sample->labels, payload);
  }
  report.ledger = {.asked = data.size(), .delivered = data.size()};
  return report;
}

void expect_same(const EpochReport& got, const EpochReport& wanted) {
  EXPECT_EQ(got.epoch, wanted.epoch);
  EXPECT_EQ(got.ledger, wanted.ledger);
  EXPECT_EQ(got.order_digest, wanted.order_digest);
  EXPECT_EQ(got.set_digest, wanted.set_digest);
}

TEST(Loader, DeliversThePlannedOrderWithItsDigests) {
  World world(23);
  auto options = small_job();
  options.epochs = 3;
  auto loader = world.loader(options);
  ASSERT_TRUE(loader.ok()) << loader.error().to_string();
  std::uint64_t step = 0;
  const auto got = drain(**loader, 3, [&](Batch& batch) {
    EXPECT_EQ(batch.step, step % 6);
    EXPECT_EQ(batch.epoch, step / 6);
    ++step;
    ASSERT_EQ(batch.label_width, 1U);
    ASSERT_EQ(batch.labels.size(), batch.count());
    for (std::size_t i = 0; i < batch.count(); ++i) {
      // Keys sort by class first: ids 0 … 7 are class 0, 8 … 15 class 1, the rest class 2.
      const std::uint64_t label = batch.slots[i].sample_id / 8;
      EXPECT_EQ(batch.labels[i], static_cast<float>(label));
    }
  });
  ASSERT_FALSE(got.error);
  ASSERT_EQ(got.slots.size(), 69U);
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const Order order(options.shuffle, options.seed, epoch, 23);
    for (std::uint64_t position = 0; position < 23; ++position) {
      const Slot& slot = got.slots[epoch * 23 + position];
      ASSERT_EQ(slot.position, position);
      ASSERT_EQ(slot.sample_id, order.at(position));
    }
    expect_same(got.epochs[epoch], expected(world, options, epoch));
  }
  // After the last epoch it is nothing for ever.
  EXPECT_FALSE((*(*loader)->next({})).has_value());
  EXPECT_EQ((*loader)->epoch_report().epoch, 2U);
}

// Promise D4: The number of threads changes no digest.
TEST(Loader, GivesTheSameWithAnyThreadsBudgetDepthAndRequests) {
  World world(40);
  for (const unsigned threads : {1U, 2U, 3U, 4U, 5U, 8U, 13U, 17U}) {
    for (const std::uint64_t budget : {1U, 700U, 1U << 20U}) {
      for (const unsigned depth : {1U, 4U}) {
        for (const unsigned requests : {1U, 7U, 256U}) {
          auto options = small_job();
          options.epochs = 2;
          options.threads = threads;
          options.budget_bytes = budget;
          options.depth = depth;
          options.max_requests = requests;
          auto loader = world.loader(options);
          ASSERT_TRUE(loader.ok());
          const auto got = drain(**loader, 2);
          ASSERT_EQ(got.epochs.size(), 2U);
          static const EpochReport first = expected(world, options, 0);
          static const EpochReport second = expected(world, options, 1);
          expect_same(got.epochs[0], first);
          expect_same(got.epochs[1], second);
        }
      }
    }
  }
}

TEST(Loader, WorksOnAStoreThatCompletesAtOnce) {
  World world(40, 0);
  auto options = small_job();
  auto loader = world.loader(options);
  expect_same(drain(**loader, 1).epochs.at(0), expected(world, options, 0));
}

// Promise D5: The digests of all ranks add up to the digest of one rank alone.
TEST(Loader, AddsUpOverRanks) {
  World world(37);
  for (const std::uint64_t ranks : {1U, 2U, 3U, 9U}) {
    for (const Tail tail : {Tail::keep, Tail::pad}) {
      EpochReport sum{.epoch = 0};
      std::uint64_t slots = 0;
      for (std::uint64_t rank = 0; rank < ranks; ++rank) {
        auto options = small_job();
        options.rank = rank;
        options.world = ranks;
        options.tail = tail;
        auto loader = world.loader(options);
        const auto got = drain(**loader, 1);
        ASSERT_EQ(got.epochs.size(), 1U);
        sum.ledger += got.epochs[0].ledger;
        sum.order_digest += got.epochs[0].order_digest;
        sum.set_digest += got.epochs[0].set_digest;
        slots += got.slots.size();
      }
      EXPECT_EQ(slots, sum.ledger.delivered + sum.ledger.padded);
      sum.ledger.padded = 0;
      expect_same(sum, expected(world, small_job(), 0));
    }
  }
}

TEST(Loader, NeverHasMoreRequestsOrBytesThanAllowed) {
  World world(60);
  auto options = small_job();
  options.max_requests = 5;
  options.budget_bytes = 2000;
  auto loader = world.loader(options);
  drain(**loader, 1,
        [&loader](Batch&) { EXPECT_LE((*loader)->progress().bytes_in_flight, 2000U); });
  EXPECT_LE(world.store.most_in_flight(), 5U);
}

TEST(Loader, TellsTheStoreWhatFollowsInDeliveryOrder) {
  World world(30);
  auto options = small_job();
  options.epochs = 2;
  auto loader = world.loader(options);
  drain(**loader, 2);
  const auto hints = world.store.hints();
  ASSERT_EQ(hints.size(), 60U);
  for (std::uint64_t i = 0; i < 60; ++i) {
    const Order order(options.shuffle, options.seed, i / 30, 30);
    EXPECT_EQ(hints[i].key, world.key(order.at(i % 30)));
  }
}

TEST(Loader, PrefetchesAcrossTheEndOfAnEpoch) {
  World world(8);
  auto options = small_job();
  options.epochs = 2;
  auto loader = world.loader(options);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE((*(*loader)->next({})).has_value());
  while (world.store.reads().size() < 16) std::this_thread::yield();
}

TEST(Loader, GivesEmptyBatchesToRanksWithoutAShare) {
  World world(3);
  auto options = small_job();
  options.rank = 5;
  options.world = 6;
  options.epochs = 2;
  auto loader = world.loader(options);
  const auto got = drain(**loader, 2);
  EXPECT_EQ(got.batches, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(got.epochs.at(1).ledger, Ledger{});
}

TEST(Loader, HasEpochsWithoutBatches) {
  World world(3);
  auto options = small_job();
  options.tail = Tail::drop;
  options.epochs = 3;
  auto loader = world.loader(options);
  const auto got = drain(**loader, 3);
  ASSERT_EQ(got.epochs.size(), 3U);
  EXPECT_EQ(got.epochs[2].epoch, 2U);
  EXPECT_EQ(got.epochs[2].ledger, (Ledger{.asked = 3, .dropped = 3}));
}

TEST(Loader, EndsWhileItIsUsedAndAtAnyMoment) {
  for (int moment = 0; moment < 20; ++moment) {
    World world(40);
    if (moment % 2 == 1) world.store.hold(world.key(static_cast<std::uint64_t>(moment)));
    auto options = small_job();
    options.epochs = 100;
    options.budget_bytes = 500;
    auto loader = world.loader(options);
    for (int i = 0; i < moment / 2; ++i) std::this_thread::yield();
    if (moment % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

TEST(Loader, StopsWaitingWhenAsked) {
  World world(40);
  world.store.hold("");
  auto loader = world.loader(small_job());
  std::stop_source source;
  std::jthread later([&source] { source.request_stop(); });
  const auto stopped = (*loader)->next(source.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
  // A cancelled call leaves the loader as it was.
  world.store.resume();
  expect_same(drain(**loader, 1).epochs.at(0), expected(world, small_job(), 0));
}

TEST(Loader, CountsWhoWaits) {
  World world(40);
  auto options = small_job();
  auto loader = world.loader(options);
  const auto got = drain(**loader, 1);
  const auto& metrics = got.epochs.at(0).metrics;
  EXPECT_GT(metrics[static_cast<std::size_t>(Metric::wait_next_nanos)], 0U);
  EXPECT_GT(metrics[static_cast<std::size_t>(Metric::decode_nanos)], 0U);
  EXPECT_GT(got.epochs[0].seconds, 0.0);
}

/// Counts bytes as a store of the real world does.
class CountingFeed final : public Feed {
 public:
  CountingFeed(Feed& below, Metrics& metrics) : below_(below), metrics_(metrics) {}
  void fetch(const FeedRequest& request, FeedDone done) override {
    below_.fetch(request, [this, done = std::move(done)](Result<Bytes> got) {
      metrics_.add(Metric::bytes_origin, got.ok() ? got->size() : 0);
      done(std::move(got));
    });
  }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    return below_.parse(id, frame);
  }
  void flush() override { below_.flush(); }
  bool random_access() const override { return true; }

 private:
  Feed& below_;
  Metrics& metrics_;
};

TEST(Loader, CountsBytesForTheEpochThatAskedForThem) {
  World world(40);
  std::uint64_t size = 0;
  for (std::uint64_t i = 0; i < 40; ++i) size += world.dataset->frame_bytes(SampleId{i});
  CountingFeed feed(*world.feed, *world.context.metrics);
  auto options = small_job();
  options.epochs = 5;
  auto loader = Loader::make(world.context, feed, *world.dataset, options);
  for (const EpochReport& report : drain(**loader, 5).epochs) {
    EXPECT_EQ(report.metrics[static_cast<std::size_t>(Metric::bytes_origin)], size);
  }
}

TEST(Loader, SaysWhatItWaitsFor) {
  World world(40);
  world.store.hold("");
  auto loader = world.loader(small_job());
  EXPECT_EQ((*loader)->progress().waits_for, "consumer");
  std::stop_source source;
  std::jthread consumer([&] { std::ignore = (*loader)->next(source.get_token()); });
  while ((*loader)->progress().waits_for != "origin") std::this_thread::yield();
  source.request_stop();
}

std::ptrdiff_t entries(const char* folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(Loader, LeavesNoThreadsOrDescriptorsBehind) {
  World world(20);
  const auto run = [&world](int i) {
    auto loader = world.loader(small_job());
    for (int n = 0; n < i % 7; ++n) std::ignore = (*loader)->next({});
  };
  run(1);
  const auto threads = entries("/proc/self/task");
  const auto descriptors = entries("/proc/self/fd");
  for (int i = 0; i < 100; ++i) run(i);
  EXPECT_EQ(entries("/proc/self/task"), threads);
  EXPECT_EQ(entries("/proc/self/fd"), descriptors);
}

TEST(Loader, RefusesWhatCannotBe) {
  World world(3);
  auto options = small_job();
  options.batch = 0;
  EXPECT_EQ(world.loader(options).error().code(), Code::invalid);
  options = small_job();
  options.max_bad = -0.1;
  EXPECT_EQ(world.loader(options).error().code(), Code::invalid);
  options = small_job();
  options.threads = 100'000;
  EXPECT_EQ(world.loader(options).error().code(), Code::invalid);
  options = small_job();
  options.quarantine = "/nonexistent/folder/bad.jsonl";
  EXPECT_EQ(world.loader(options).error().code(), Code::not_found);
}

}  // namespace
}  // namespace headrace
