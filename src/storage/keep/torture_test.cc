// SPDX-License-Identifier: Apache-2.0
// The cache on a simulated disk: three processes on one directory, killed at every step of their
// run, cut off from power with any part of their writes lost. What must hold, whatever happens:
//   1. a read gives the right bytes or none;
//   2. the files never take more than the limit;
//   3. what was kept before a process was killed is found by the next one;
//   4. nothing is left behind that is not evicted or tidied up in the end.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "headrace/storage/keep/cache.h"
#include "headrace/storage/keep/testing/sim_disk.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace::keep {
namespace {

using headrace::testing::pattern;
using testing::SimOp;
using testing::SimWorld;

/// Time passes only by sleeping.
class SleepingClock final : public Clock {
 public:
  Nanos now() const override { return now_; }
  bool sleep_until(Nanos when, const std::stop_token&) override {
    now_ = std::max(now_, when);
    return true;
  }
  std::int64_t wall_seconds() const override { return 0; }

 private:
  Nanos now_{std::chrono::hours(1)};
};

#ifdef HEADRACE_SANITIZED
constexpr std::uint64_t kStride = 17;  // of the cases, one in so many
#else
constexpr std::uint64_t kStride = 1;
#endif
constexpr int kProcesses = 3;
constexpr std::uint64_t kLimit = std::uint64_t{3} << 20U;
constexpr std::uint64_t kObjects = 24;

Hash128 id_of(std::uint64_t object) { return {mix64(object), mix64(~object)}; }
std::uint64_t size_of(std::uint64_t object) { return 1000 + mix64(object) % 300'000; }
const std::string& content_of(std::uint64_t object) {
  static const auto* const all = [] {
    auto* made = new std::vector<std::string>;
    for (std::uint64_t i = 0; i < kObjects; ++i) made->push_back(pattern(i, size_of(i)));
    return made;
  }();
  return (*all)[object];
}

class Torture {
 public:
  explicit Torture(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < kProcesses; ++i) caches_.push_back(nullptr);
  }

  std::shared_ptr<SimWorld> world = SimWorld::make();

  /// One random thing that a random process does.
  void act() {
    const auto process = random_.below(kProcesses);
    auto& cache = caches_[process];
    if (!cache) return start(process);
    const std::uint64_t object = random_.below(kObjects);
    switch (random_.below(8)) {
      case 0:
        std::ignore = cache->refresh().ok();
        break;
      case 1:
      case 2:
      case 3:
        append(*cache, object);
        break;
      case 4:
        if (random_.below(8) == 0) cache = nullptr;  // a clean end
        break;
      default:
        read(*cache, object);
    }
    check_size();
  }

  void start(std::uint64_t process) {
    auto cache = std::make_unique<Cache>(world->mount(static_cast<int>(process)),
                                         CacheOptions{"s3://set", kLimit}, clock_);
    if (cache->load()) caches_[process] = std::move(cache);
  }

  void append(Cache& cache, std::uint64_t object) {
    const Item item{.object = id_of(object),
                    .place = object,
                    .name = fmt::format("k{}", object),
                    .bytes = Bytes::copy_of(content_of(object))};
    const auto left_out = cache.append({&item, 1});
    if (left_out && *left_out == 0) kept_.insert(object);
  }

  /// True if the object was there.
  bool read(Cache& cache, std::uint64_t object) {
    const auto parts = cache.want(id_of(object), 0, size_of(object));
    if (!parts) cache.note_miss(id_of(object), object);
    if (!parts) return false;
    const auto bytes = cache.read(*parts);
    if (!bytes) return false;
    EXPECT_TRUE(bytes->text() == content_of(object)) << "wrong bytes of object " << object;
    return true;
  }

  void check_size() { EXPECT_LE(world->bytes(), kLimit); }

  void kill_all() {
    for (int i = 0; i < kProcesses; ++i) world->kill(i);
    for (auto& cache : caches_) cache = nullptr;
  }

  /// A new process after all others are gone: how many of the kept objects it finds.
  std::size_t found() {
    Cache cache(world->mount(kProcesses), {"s3://set", kLimit}, clock_);
    EXPECT_TRUE(cache.load());
    std::size_t count = 0;
    for (const std::uint64_t object : kept_) count += read(cache, object) ? 1 : 0;
    return count;
  }

  /// Another job, which wants nothing of this, fills the cache.
  void squeeze_out() {
    Cache cache(world->mount(kProcesses + 1), {"s3://other", kLimit}, clock_);
    EXPECT_TRUE(cache.load());
    std::uint64_t stored = 0;
    for (std::uint64_t i = 0; i < 40; ++i) {
      const Item item{.object = id_of(1000 + i),
                      .bytes = Bytes::copy_of(std::string(100'000, 'x'))};
      const auto left_out = cache.append({&item, 1});
      EXPECT_TRUE(left_out);
      check_size();
      if (left_out) stored += 100'000 - *left_out;
    }
    EXPECT_GT(stored, kLimit * 8 / 10) << "what dead processes left is in the way";
  }

  std::size_t kept() const { return kept_.size(); }

 private:
  Random random_;
  SleepingClock clock_;
  std::vector<std::unique_ptr<Cache>> caches_;
  std::set<std::uint64_t> kept_;
};

TEST(KeepTorture, ThreeProcessesNeverGiveWrongBytesNorPassTheLimit) {
  for (std::uint64_t seed = 0; seed < 20; seed += kStride) {
    Torture torture(seed);
    for (int i = 0; i < 300; ++i) torture.act();
    EXPECT_GT(torture.kept(), 10U);
    torture.kill_all();
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(KeepTorture, AProcessMayDieAtAnyStep) {
  constexpr std::uint64_t kSeed = 5;
  constexpr int kActs = 80;
  std::uint64_t steps = 0;
  {
    Torture whole(kSeed);
    for (int i = 0; i < kActs; ++i) whole.act();
    steps = whole.world->steps();
  }
  ASSERT_GT(steps, 200U);
  for (std::uint64_t die_at = 1; die_at <= steps; die_at += kStride) {
    Torture torture(kSeed);
    auto* world = torture.world.get();
    world->set_hook([world, die_at](const SimOp& op) -> Result<void> {
      if (op.step == die_at) world->kill(op.process);
      return {};
    });
    for (int i = 0; i < kActs; ++i) torture.act();
    world->set_hook(nullptr);
    const std::size_t kept = torture.kept();
    torture.kill_all();
    // Nothing but room takes what was kept: this run stays below the limit, or evicts nothing,
    // since every segment was wanted by a live process.
    EXPECT_EQ(torture.found(), kept);
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "death at step " << die_at;
  }
}

TEST(KeepTorture, APowerCutLosesButNeverLies) {
  for (std::uint64_t seed = 0; seed < 100; seed += kStride) {
    Torture torture(seed);
    Random random(mix64(seed));
    const std::uint64_t acts = random.below(150);
    const std::uint64_t settled = random.below(acts + 1);
    for (std::uint64_t i = 0; i < acts; ++i) {
      torture.act();
      if (i == settled) torture.world->settle();
    }
    torture.world->cut_power(seed);
    torture.kill_all();
    torture.check_size();
    EXPECT_LE(torture.found(), torture.kept());
    for (int i = 0; i < 100; ++i) torture.act();
    torture.kill_all();
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(KeepTorture, AnyOperationMayFail) {
  for (std::uint64_t seed = 0; seed < 60; seed += kStride) {
    Torture torture(seed);
    const std::uint64_t one_in = 2 + seed % 30;
    torture.world->set_hook([seed, one_in](const SimOp& op) -> Result<void> {
      if (mix_key(seed, op.step) % one_in == 0) return Error(Code::unavailable, "EIO");
      return {};
    });
    for (int i = 0; i < 200; ++i) torture.act();
    torture.world->set_hook(nullptr);
    torture.kill_all();
    EXPECT_LE(torture.found(), torture.kept());
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(KeepTorture, TheDiskMayBeFullAtAnyByte) {
  for (std::uint64_t space = 0; space < 1'200'000; space += 20'011 * kStride) {
    Torture torture(3);
    torture.world->set_space(space);
    for (int i = 0; i < 60; ++i) torture.act();
    EXPECT_LE(torture.world->bytes(), space);
    torture.world->set_space(std::uint64_t{1} << 40U);
    torture.kill_all();
    EXPECT_EQ(torture.found(), torture.kept());
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "space " << space;
  }
}

TEST(KeepTorture, AnyBitMayFlip) {
  for (std::uint64_t seed = 0; seed < 100; seed += kStride) {
    Torture torture(7);
    for (int i = 0; i < 60; ++i) torture.act();
    Random random(seed);
    const auto files = torture.world->files();
    ASSERT_FALSE(files.empty());
    for (int flips = 0; flips < 5; ++flips) {
      const auto& file = files[random.below(files.size())];
      // Logs are short: their beginning is hit as well.
      torture.world->flip(file, random.below(file.ends_with(".log") ? 8 * 56 : 8 * 1000));
    }
    for (int i = 0; i < 60; ++i) torture.act();
    torture.kill_all();
    torture.found();
    torture.squeeze_out();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

}  // namespace
}  // namespace headrace::keep
