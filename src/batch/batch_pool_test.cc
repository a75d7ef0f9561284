// SPDX-License-Identifier: Apache-2.0
#include "headrace/batch/batch_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <thread>

namespace headrace {
namespace {

constexpr std::size_t kSample = 12;

void paint(OpenBatch& batch, std::size_t index, int value) {
  const auto sample = batch.sample(index);
  std::fill(sample.begin(), sample.end(), static_cast<std::byte>(value));
  batch.slots[index].position = static_cast<std::uint64_t>(value);
  const std::array<float, 1> label{static_cast<float>(value)};
  batch.set_labels(index, label);
}

TEST(BatchPool, SamplesLieSideBySideAndAligned) {
  BatchPool pool(5, kSample, 2, 1);
  const auto batch = *pool.acquire(3, {});
  EXPECT_EQ(batch->count(), 3U);
  EXPECT_EQ(batch->pixels().size(), 3 * kSample);
  EXPECT_EQ(std::bit_cast<std::uintptr_t>(batch->pixels().data()) % 64, 0U);
  EXPECT_EQ(batch->sample(2).data(), batch->pixels().data() + 2 * kSample);
  EXPECT_EQ(batch->labels, (std::vector<float>{-1, -1, -1, -1, -1, -1}));
  paint(*batch, 1, 7);
  EXPECT_EQ(batch->labels, (std::vector<float>{-1, -1, 7, -1, -1, -1}));  // filled with -1
}

TEST(BatchPool, CompactClosesGapsInOrder) {
  BatchPool pool(4, kSample, 1, 1);
  const auto batch = *pool.acquire(4, {});
  for (std::size_t i = 0; i < 4; ++i) paint(*batch, i, static_cast<int>(i) + 10);
  batch->drop(0);
  batch->drop(2);
  batch->compact();
  ASSERT_EQ(batch->count(), 2U);
  EXPECT_EQ(batch->slots[0].position, 11U);
  EXPECT_EQ(batch->slots[1].position, 13U);
  EXPECT_EQ(batch->labels, (std::vector<float>{11, 13}));
  ASSERT_EQ(batch->pixels().size(), 2 * kSample);
  EXPECT_EQ(batch->pixels()[0], std::byte{11});
  EXPECT_EQ(batch->pixels()[2 * kSample - 1], std::byte{13});
}

TEST(BatchPool, ABatchMayBeLeftWithNothing) {
  BatchPool pool(2, kSample, 1, 1);
  const auto batch = *pool.acquire(2, {});
  batch->drop(0);
  batch->drop(1);
  batch->compact();
  EXPECT_EQ(batch->count(), 0U);
  EXPECT_TRUE(batch->pixels().empty());
  EXPECT_TRUE(batch->labels.empty());
}

TEST(BatchPool, MemoryIsRecycled) {
  BatchPool pool(2, kSample, 1, 2);
  const std::byte* first = nullptr;
  {
    const auto batch = *pool.acquire(2, {});
    first = batch->pixels().data();
    batch->drop(0);
    batch->compact();
  }
  const auto batch = *pool.acquire(2, {});
  EXPECT_EQ(batch->pixels().data(), first);
  EXPECT_EQ(batch->count(), 2U);  // the gap of its last user is forgotten
  EXPECT_EQ(batch->slots[0].position, 0U);
}

TEST(BatchPool, WaitsForABatchToComeBack) {
  BatchPool pool(1, kSample, 1, 1);
  auto batch = *pool.acquire(1, {});
  const std::jthread consumer([&batch] { batch.reset(); });
  EXPECT_TRUE(pool.acquire(1, {}).ok());
}

TEST(BatchPool, AWaitCanBeStopped) {
  BatchPool pool(1, kSample, 1, 1);
  const auto batch = *pool.acquire(1, {});
  std::stop_source stop;
  const std::jthread stopper([&stop] { stop.request_stop(); });
  const auto second = pool.acquire(1, stop.get_token());
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().code(), Code::cancelled);
  EXPECT_EQ(pool.in_use(), 1U);
}

TEST(BatchPool, ABatchMayOutliveItsPool) {
  auto pool = std::make_unique<BatchPool>(1, kSample, 1, 1);
  auto batch = *pool->acquire(1, {});
  pool.reset();
  paint(*batch, 0, 3);
  EXPECT_EQ(batch->pixels()[0], std::byte{3});
}

TEST(BatchPool, RefusesMoreThanABatch) {
  BatchPool pool(2, kSample, 1, 1);
  const auto batch = pool.acquire(3, {});
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::invalid);
}

TEST(BatchPool, ManyThreadsShareFewBlocks) {
  BatchPool pool(4, kSample, 1, 3);
  std::vector<std::jthread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&pool, t] {
      for (int round = 0; round < 200; ++round) {
        const auto batch = *pool.acquire(4, {});
        for (std::size_t i = 0; i < 4; ++i) paint(*batch, i, t);
        for (const auto byte : batch->pixels()) ASSERT_EQ(byte, static_cast<std::byte>(t));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(pool.in_use(), 0U);
}

}  // namespace
}  // namespace headrace
