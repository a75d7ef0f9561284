// SPDX-License-Identifier: Apache-2.0
// The node cache when its disk fails, fills up, or does not answer: the job goes on.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <map>
#include <thread>

#include "headrace/base/digest.h"
#include "headrace/storage/keep/keep_engine.h"
#include "headrace/storage/keep/testing/sim_disk.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/part_reader.h"
#include "headrace/storage/testing/pattern.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;
using headrace::testing::pattern;
using testing::SimOp;
using testing::SimWorld;

class KeepFaults : public ::testing::Test {
 public:
  ~KeepFaults() override {
    release();
    store_.reset();
    while (inside_ != 0) std::this_thread::sleep_for(1ms);  // those that were left behind
  }

 protected:
  static constexpr int kObjects = 40;
  static constexpr std::size_t kSize = 30'000;

  KeepFaults() {
    for (int i = 0; i < kObjects; ++i) {
      const auto key = fmt::format("{:03}", i);
      pins_[key] = *put(origin_, key, as_byte_span(text(key)), {});
    }
    // Time goes on by itself, much faster than outside.
    mover_ = std::jthread([this](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        clock_.advance(20ms);
        std::this_thread::sleep_for(200us);
      }
    });
  }
  static std::string text(const std::string& key) {
    return pattern(static_cast<std::uint64_t>(std::stoi(key)), kSize);
  }
  void open() {
    static int process = 0;
    store_ = *make_keep_store_on(world_->mount(++process), origin_,
                                 {.limit_bytes = 1 << 30, .read_threads = 2}, context_);
  }
  /// Reads all, several at a time; gives the number from the cache. Any failure fails the test.
  int epoch() {
    std::atomic<int> hits = 0;
    std::latch all(kObjects);
    for (const auto& [key, pin] : pins_) {
      store_->read({.key = key, .pin = pin}, [&, wanted = text(key)](Result<ReadResult> got) {
        EXPECT_TRUE(got) << got.error().to_string();
        if (got) {
          EXPECT_TRUE(got->bytes.text() == wanted);
          hits += got->from_cache ? 1 : 0;
        }
        all.count_down();
      });
    }
    all.wait();
    return hits;
  }
  /// Epochs until all is served by the cache: trouble is over at some time.
  void expect_recovery() {
    do {
      store_->flush();
    } while (epoch() < kObjects);
  }
  std::uint64_t notices(const std::string& kind) const {
    for (const auto& notice : context_.notices->all())
      if (notice.kind == kind) return notice.count;
    return 0;
  }
  void fail(const std::string& what, const Error& error) {
    world_->set_hook([what, error](const SimOp& op) -> Result<void> {
      if (op.what == what) return error;
      return {};
    });
  }
  /// `what` does not come back before `release`.
  void hang(const std::string& what) {
    world_->set_hook([this, what](const SimOp& op) -> Result<void> {
      if (op.what == what) {
        ++hanging_;
        ++inside_;
        while (!released_) std::this_thread::sleep_for(1ms);
        --inside_;
      }
      return {};
    });
  }
  void release() {
    world_->set_hook(nullptr);
    released_ = true;
  }

  std::shared_ptr<SimWorld> world_ = SimWorld::make();
  ManualClock clock_;
  MemoryStore origin_;
  Context context_{.clock = &clock_};
  std::map<std::string, Pin> pins_;
  std::atomic<bool> released_ = false;
  std::atomic<int> hanging_ = 0;  ///< calls so far
  std::atomic<int> inside_ = 0;   ///< now
  std::jthread mover_;
  std::unique_ptr<KeepStore> store_;
};

// Promise M7: A cache whose disk hangs, fails or fills up stops no job and changes no sample.
TEST_F(KeepFaults, WritesThatFailCostNothingButTheCache) {
  open();
  fail("write", errno_error(EIO, "write"));
  EXPECT_EQ(epoch(), 0);
  store_->flush();
  EXPECT_GE(notices("keep-trouble"), 1U);
  EXPECT_GT(store_->stats().not_kept_bytes, 0U);
  EXPECT_EQ(epoch(), 0);
  world_->set_hook(nullptr);
  expect_recovery();
}

TEST_F(KeepFaults, AFullDiskCostsNothingButTheCache) {
  open();
  world_->set_space(100'000);
  epoch();
  store_->flush();
  EXPECT_LE(epoch(), 4);
  EXPECT_LE(world_->bytes(), 100'000U);
  EXPECT_GE(notices("keep-full") + notices("keep-trouble"), 1U) << "it is said";
  EXPECT_GT(store_->stats().not_kept_bytes, 0U);
  world_->set_space(1 << 30);
  expect_recovery();
}

TEST_F(KeepFaults, ReadsThatFailComeFromTheOrigin) {
  open();
  epoch();
  store_->flush();
  fail("read", errno_error(EIO, "read"));
  EXPECT_EQ(epoch(), 0);
  EXPECT_GE(notices("keep-trouble"), 1U);
  world_->set_hook(nullptr);
  expect_recovery();
}

TEST_F(KeepFaults, OneBadPlaceIsNotADeadDisk) {
  open();
  epoch();
  store_->flush();
  std::atomic<int> reads = 0;
  world_->set_hook([&reads](const SimOp& op) -> Result<void> {
    if (op.what == "read" && op.file.ends_with(".data") && ++reads == 7)
      return errno_error(EIO, "read");
    return {};
  });
  EXPECT_EQ(epoch(), kObjects - 1);
  EXPECT_EQ(notices("keep-trouble"), 0U);
  store_->flush();
  EXPECT_EQ(epoch(), kObjects) << "kept again elsewhere";
}

TEST_F(KeepFaults, ADiskThatCannotBeListedIsGoneOnWithout) {
  fail("list", errno_error(EIO, "list"));
  open();
  EXPECT_EQ(epoch(), 0);
  EXPECT_GE(notices("keep-trouble"), 1U);
  world_->set_hook(nullptr);
  expect_recovery();
}

TEST_F(KeepFaults, AReadThatHangsComesFromTheOrigin) {
  open();
  epoch();
  store_->flush();
  hang("read");
  EXPECT_EQ(epoch(), 0);
  EXPECT_GT(hanging_, 0);
  EXPECT_GE(notices("keep-trouble"), 1U);
  EXPECT_EQ(epoch(), 0) << "and the next ones do not even try";
  release();
  expect_recovery();
}

TEST_F(KeepFaults, PartsOfADiskThatHangsAreNotThere) {
  open();
  epoch();
  store_->flush();
  hang("read");
  const auto& [key, pin] = *pins_.begin();
  WantedParts wanted;
  wanted.blocks.push_back({0, 4096, hash_bytes(as_byte_span(text(key)).first(4096)).low});
  std::promise<Result<std::optional<Bytes>>> promise;
  part_reader(*store_)->read_parts(
      {.key = key, .range = {0, kSize}, .pin = pin},
      std::make_shared<const WantedParts>(std::move(wanted)),
      [&promise](Result<std::optional<Bytes>> got) { promise.set_value(std::move(got)); });
  const auto got = promise.get_future().get();
  EXPECT_TRUE(got.ok() && !*got) << "the caller reads the range, from the origin";
  EXPECT_GT(hanging_, 0);
  release();
  expect_recovery();
}

TEST_F(KeepFaults, AWriteThatHangsHoldsNothingUp) {
  hang("write");
  open();
  EXPECT_EQ(epoch(), 0);
  for (int i = 0; i < 3; ++i) epoch();
  release();
  expect_recovery();
}

TEST_F(KeepFaults, ADiskThatHangsAtTheStartHoldsNothingUp) {
  hang("list");
  static int process = 1000;
  store_ =
      *make_keep_store_on(world_->mount(++process), origin_,
                          {.limit_bytes = 1 << 30, .read_threads = 2, .patience = 20ms}, context_);
  EXPECT_EQ(epoch(), 0);
  release();
  expect_recovery();
}

TEST_F(KeepFaults, ReadsWaitingForAFullQueueGoOnWhenTheDiskHangs) {
  hang("write");
  static int process = 2000;
  store_ = *make_keep_store_on(world_->mount(++process), origin_,
                               {.limit_bytes = 1 << 30, .write_queue_bytes = 1}, context_);
  EXPECT_EQ(epoch(), 0);
  release();
  expect_recovery();
}

TEST_F(KeepFaults, TheEndDoesNotWaitForADiskThatHangs) {
  for (const std::string what : {"read", "write", "list", "open"}) {
    released_ = false;
    world_ = SimWorld::make();
    if (what == "read") {
      open();
      epoch();
      store_->flush();
    }
    hang(what);
    if (what != "read") open();
    std::latch all(kObjects);
    for (const auto& [key, pin] : pins_)
      store_->read({.key = key, .pin = pin},
                   [&all](const Result<ReadResult>&) { all.count_down(); });
    while (inside_ == 0) std::this_thread::sleep_for(1ms);
    store_.reset();  // would hang with it
    all.wait();      // every read was answered
    EXPECT_GE(inside_, 1) << what;
    release();
    while (inside_ != 0) std::this_thread::sleep_for(1ms);
  }
}

TEST_F(KeepFaults, EpochAfterEpochGoesOnWhileTheDiskHangsWhichIsSaidOnce) {
  open();
  epoch();
  store_->flush();
  hang("read");
  for (int i = 0; i < 8; ++i) {  // longer than the pauses between trials
    EXPECT_EQ(epoch(), 0);
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(notices("keep-trouble"), 1U);
  EXPECT_LE(hanging_, 2 + 1) << "both lanes, and the writer at most: nothing is sent after them";
  release();
  expect_recovery();
}

TEST_F(KeepFaults, AReadThatIsStoppedDoesNotWaitForADiskThatHangs) {
  static int process = 3000;
  store_ =
      *make_keep_store_on(world_->mount(++process), origin_,
                          {.limit_bytes = 1 << 30, .read_threads = 2, .patience = 24h}, context_);
  epoch();
  store_->flush();
  hang("read");
  std::stop_source stop;
  std::latch all(kObjects);
  std::atomic<int> cancelled = 0;
  for (const auto& [key, pin] : pins_) {
    store_->read({.key = key, .pin = pin, .stop = stop.get_token()},
                 [&](const Result<ReadResult>& got) {
                   cancelled += !got && got.error().code() == Code::cancelled ? 1 : 0;
                   all.count_down();
                 });
  }
  stop.request_stop();
  all.wait();
  EXPECT_EQ(cancelled, kObjects);
}

TEST_F(KeepFaults, DerivedBytesAreNotWaitedForForEver) {
  static int process = 4000;
  store_ =
      *make_keep_store_on(world_->mount(++process), origin_,
                          {.limit_bytes = 1 << 30, .read_threads = 2, .patience = 30s}, context_);
  const SideKey key{.store = "s", .object = "o", .kind = "k"};
  ASSERT_TRUE(store_->put(key, as_byte_span("derived")));
  EXPECT_TRUE((*store_->get(key)).has_value());
  hang("read");
  EXPECT_FALSE((*store_->get(key)).has_value());
  release();
}

}  // namespace
}  // namespace headrace::keep
