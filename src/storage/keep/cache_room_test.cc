// SPDX-License-Identifier: Apache-2.0
// How much of its volume the cache takes, when others write there too.
#include <gtest/gtest.h>

#include "headrace/storage/keep/cache.h"
#include "headrace/storage/keep/testing/sim_disk.h"

namespace headrace::keep {
namespace {

using testing::SimWorld;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;

/// Gives the cache as much as it takes, and says how much that was.
std::uint64_t fill(Cache& cache, std::uint64_t first) {
  std::uint64_t kept = 0;
  for (std::uint64_t i = first; i < first + 400; ++i) {
    const Item item{.object = {i, ~i}, .bytes = Bytes::copy_of(std::string(100'000, 'x'))};
    const auto left_out = cache.append({&item, 1});
    if (left_out) kept += 100'000 - *left_out;
  }
  return kept;
}

TEST(CacheRoom, ByDefaultIsNineTenthsOfWhatIsFree) {
  const auto world = SimWorld::make();
  world->set_space(20 * kMiB);
  ManualClock clock;
  Cache cache(world->mount(0), {.store = "s3://set"}, clock);
  ASSERT_TRUE(cache.load());
  EXPECT_EQ(cache.limit(), 20 * kMiB / 10 * 9);
  EXPECT_GT(fill(cache, 0), 16 * kMiB);
  EXPECT_LE(world->bytes(), 18 * kMiB);
}

// mountpoint-s3#1779: others wrote meanwhile, and the volume was filled up to the last byte.
TEST(CacheRoom, ByDefaultLeavesATenthFreeWhoeverElseFillsTheVolume) {
  const auto world = SimWorld::make();
  world->set_space(20 * kMiB);
  ManualClock clock;
  Cache cache(world->mount(0), {.store = "s3://set"}, clock);
  ASSERT_TRUE(cache.load());
  world->set_space(10 * kMiB);  // the other half is taken
  EXPECT_GT(fill(cache, 0), 6 * kMiB);
  EXPECT_LE(world->bytes(), 8 * kMiB) << "a tenth of what was free at the start";
}

TEST(CacheRoom, OfTwoCachesOnOneVolumeIsCountedWithWhatTheOtherMayStillWrite) {
  const auto world = SimWorld::make();
  world->set_space(20 * kMiB);
  ManualClock clock;
  Cache one(world->mount(0), {.store = "s3://one"}, clock);
  Cache other(world->mount(1), {.store = "s3://other"}, clock);
  ASSERT_TRUE(one.load() && other.load());
  world->set_space(12 * kMiB);
  for (std::uint64_t i = 0; i < 30; ++i) {  // in turns: each has a segment that is half full
    const Item item{.object = {i, ~i}, .bytes = Bytes::copy_of(std::string(100'000, 'x'))};
    ASSERT_TRUE(one.append({&item, 1}));
    ASSERT_TRUE(other.append({&item, 1}));
  }
  fill(one, 100);
  fill(other, 600);
  EXPECT_GT(world->bytes(), 7 * kMiB);
  EXPECT_LE(world->bytes(), 10 * kMiB);
}

TEST(CacheRoom, ThatWasGivenIsTakenWhole) {
  const auto world = SimWorld::make();
  world->set_space(20 * kMiB);
  ManualClock clock;
  Cache cache(world->mount(0), {.store = "s3://set", .limit = 30 * kMiB}, clock);
  ASSERT_TRUE(cache.load());
  world->set_space(10 * kMiB);
  EXPECT_GT(fill(cache, 0), 8 * kMiB);
}

}  // namespace
}  // namespace headrace::keep
