// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/keep_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <latch>
#include <map>
#include <thread>

#include "headrace/storage/keep/testing/keep_world.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/store_conformance.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::KeepStoreTest;
using testing::pattern;
using testing::TemporaryFolder;

struct World {
  TemporaryFolder folder;
  MemoryStore memory;
};

const bool kConformance = testing::register_store_conformance(
    {.name = "keep", .make = [](const Context& context) {
       auto world = std::make_shared<World>();
       auto store = make_keep_store(world->memory, {.dir = world->folder.string() + "/k"}, context);
       return testing::StoreWorld::Made{world, store ? *std::move(store) : nullptr};
     }});

TEST_F(KeepStoreTest, TheSecondEpochAsksTheOriginForNothing) {
  fill_origin(50);
  auto store = open();
  EXPECT_EQ(epoch(*store), 0);
  EXPECT_EQ(origin_.reads, 50);
  EXPECT_EQ(context_.metrics->get(Metric::cache_misses), 50U);
  store->flush();
  EXPECT_EQ(epoch(*store), 50);
  EXPECT_EQ(origin_.reads, 50);
  EXPECT_EQ(context_.metrics->get(Metric::cache_hits), 50U);
  EXPECT_EQ(context_.metrics->get(Metric::bytes_cache), 50 * kSize);
  EXPECT_EQ(store->stats().stored_bytes, 50 * kSize);
  EXPECT_EQ(store->stats().not_kept_bytes, 0U);
}

TEST_F(KeepStoreTest, WhatIsNotWrittenYetIsServedFromMemory) {
  fill_origin(50);
  auto store = open();
  epoch(*store);
  EXPECT_EQ(epoch(*store), 50) << "without waiting for the disk";
  EXPECT_EQ(origin_.reads, 50);
}

TEST_F(KeepStoreTest, ANewProcessFindsWhatAnotherKept) {
  fill_origin(50);
  epoch(*open());
  auto store = open();
  store->flush();
  EXPECT_EQ(store->stats().entries, 50U);
  EXPECT_EQ(epoch(*store), 50);
  EXPECT_EQ(origin_.reads, 50);
}

TEST_F(KeepStoreTest, ReadsBeforeItIsKnownWhatIsKeptWaitForThat) {
  fill_origin(50);
  epoch(*open());
  for (int i = 0; i < 20; ++i) {
    auto store = open();
    std::latch all(50);
    for (const auto& [key, pin] : pins_) {
      store->read({.key = key, .pin = pin}, [&all](const Result<ReadResult>& got) {
        EXPECT_TRUE(got && got->from_cache);
        all.count_down();
      });
    }
    all.wait();
  }
  EXPECT_EQ(origin_.reads, 50);
}

TEST_F(KeepStoreTest, ClosingAtOnceAnswersEveryRead) {
  fill_origin(50);
  epoch(*open());
  for (int i = 0; i < 50; ++i) {
    std::atomic<int> answers = 0;
    {
      auto store = open();
      for (const auto& [key, pin] : pins_)
        store->read({.key = key, .pin = pin}, [&answers](const Result<ReadResult>&) { ++answers; });
    }
    EXPECT_EQ(answers, 50);
  }
}

TEST_F(KeepStoreTest, TwoAtOnceShareWhatTheyKeep) {
  fill_origin(50);
  auto one = open();
  auto other = open();
  epoch(*one);
  one->flush();
  while (other->stats().entries < 50) {
    // Looks around when something was missed: reads of an object that nobody keeps.
    std::ignore = read_now(*other, {.key = "absent", .pin = Pin{.etag = "\"x\"", .size = 5}}).ok();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const int before = origin_.reads;
  EXPECT_EQ(epoch(*other), 50);
  EXPECT_EQ(origin_.reads, before);
}

TEST_F(KeepStoreTest, AReplacedObjectIsNeverServedStale) {
  fill_origin(1);
  auto store = open();
  epoch(*store);
  const Pin before = pins_["c/0000"];
  const Pin after = *put(origin_, "c/0000", as_byte_span(pattern(77, kSize)), {});
  const auto got = read_now(*store, {.key = "c/0000", .pin = after});
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->from_cache);
  EXPECT_TRUE(got->bytes.text() == pattern(77, kSize));
  const auto old = read_now(*store, {.key = "c/0000", .pin = before});
  ASSERT_TRUE(old) << "the version that the job began with is still kept";
  EXPECT_TRUE(old->bytes.text() == pattern(seed_of("c/0000"), kSize));
}

TEST_F(KeepStoreTest, WeakPinsAreKeptUnderTimeAndSize) {
  const TemporaryFolder files;
  fill_origin(1);
  auto store = open();
  const Pin weak{.modified_ns = 5, .size = kSize};
  const Pin newer{.modified_ns = 6, .size = kSize};
  // The memory store compares ETags only if both sides have one, so it answers neither of these;
  // what matters here is that one pin is not taken for the other.
  EXPECT_FALSE(read_now(*store, {.key = "c/0000", .pin = weak}));
  EXPECT_FALSE(read_now(*store, {.key = "c/0000", .pin = newer}));
}

TEST_F(KeepStoreTest, AReadWithoutPinPassesBy) {
  fill_origin(1);
  auto store = open();
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(read_now(*store, {.key = "c/0000"})->from_cache);
  EXPECT_EQ(origin_.reads, 2);
}

TEST_F(KeepStoreTest, OtherRangesOfKeptBytesAreHits) {
  fill_origin(1, 1'000'000);
  const std::string text = pattern(seed_of("c/0000"), 1'000'000);
  auto store = open();
  const auto read = [&](std::uint64_t offset, std::uint64_t length) {
    const auto got =
        read_now(*store, {.key = "c/0000", .range = {offset, length}, .pin = pins_["c/0000"]});
    EXPECT_TRUE(got && got->bytes.text() == text.substr(offset, length)) << offset;
    store->flush();
    return got && got->from_cache;
  };
  EXPECT_FALSE(read(100'000, 100'000));
  EXPECT_FALSE(read(200'000, 300'000));
  EXPECT_TRUE(read(150'000, 10)) << "inside one";
  EXPECT_TRUE(read(150'000, 100'000)) << "across two";
  EXPECT_TRUE(read(100'000, 400'000)) << "all of both";
  EXPECT_FALSE(read(99'999, 2)) << "begins before";
  EXPECT_FALSE(read(499'999, 2)) << "ends behind";
  EXPECT_FALSE(read(0, ByteRange::kToEnd == 0 ? 0 : 1'000'000));
  EXPECT_TRUE(read(3, 999'990));
}

TEST_F(KeepStoreTest, AFreshReadGoesToTheOriginAndReplacesWhatWasKept) {
  fill_origin(1);
  auto store = open();
  epoch(*store);
  store->flush();
  const auto got = read_now(*store, {.key = "c/0000", .pin = pins_["c/0000"], .fresh = true});
  ASSERT_TRUE(got);
  EXPECT_FALSE(got->from_cache);
  EXPECT_EQ(origin_.reads, 2);
  store->flush();
  EXPECT_EQ(epoch(*store), 1);
}

TEST_F(KeepStoreTest, ReadsOfTheSameBytesShareOneRequest) {
  fill_origin(1);
  auto store = open_and_wait();
  origin_.hold();
  std::atomic<int> right = 0;
  std::latch all(10);
  for (int i = 0; i < 10; ++i) {
    store->read({.key = "c/0000", .pin = pins_["c/0000"]}, [&](const Result<ReadResult>& got) {
      right += got && got->bytes.text() == pattern(seed_of("c/0000"), kSize) ? 1 : 0;
      all.count_down();
    });
  }
  EXPECT_EQ(origin_.waiting().size(), 1U);
  origin_.release();
  all.wait();
  EXPECT_EQ(right, 10);
  EXPECT_EQ(origin_.reads, 1);
}

TEST_F(KeepStoreTest, OneThatLeavesDoesNotTakeTheOthersWithIt) {
  fill_origin(1);
  auto store = open_and_wait();
  origin_.hold();
  std::stop_source stop;
  std::atomic<int> delivered = 0;
  std::latch all(2);
  const auto count = [&](const Result<ReadResult>& got) {
    delivered += got ? 1 : 0;
    all.count_down();
  };
  store->read({.key = "c/0000", .pin = pins_["c/0000"], .stop = stop.get_token()}, count);
  store->read({.key = "c/0000", .pin = pins_["c/0000"]}, count);
  stop.request_stop();
  origin_.release();
  all.wait();
  EXPECT_GE(delivered, 1);
}

TEST_F(KeepStoreTest, WhenAllLeaveTheFlightEnds) {
  fill_origin(1);
  auto store = open_and_wait();
  origin_.hold();
  std::stop_source stop;
  Code code = Code::invalid;
  std::latch all(1);
  store->read({.key = "c/0000", .pin = pins_["c/0000"], .stop = stop.get_token()},
              [&](const Result<ReadResult>& got) {
                if (!got) code = got.error().code();
                all.count_down();
              });
  stop.request_stop();
  EXPECT_TRUE(origin_.waiting().at(0).stop_requested());
  origin_.release();
  all.wait();
  EXPECT_EQ(code, Code::cancelled);
  EXPECT_EQ(epoch(*store), 0) << "and the next reader begins anew";
}

TEST_F(KeepStoreTest, MissesWaitForASlowDiskNotTheCaller) {
  fill_origin(200, 100'000);
  auto made = make_keep_store(
      origin_, {.dir = dir(), .limit_bytes = 1 << 30, .write_queue_bytes = 1}, context_);
  ASSERT_TRUE(made);
  std::latch all(200);
  for (const auto& [key, pin] : pins_)
    (*made)->read({.key = key, .pin = pin}, [&](const Result<ReadResult>&) { all.count_down(); });
  all.wait();
  (*made)->flush();
  EXPECT_EQ(epoch(**made), 200) << "nothing was left out";
}

// --- damage ---------------------------------------------------------------------------------

TEST_F(KeepStoreTest, AFlippedBitIsReadAgainFromTheOrigin) {
  fill_origin(20);
  epoch(*open());
  flip(files(".data").at(0), 5 * kSize + 77);
  auto store = open();
  EXPECT_EQ(epoch(*store), 19);
  EXPECT_EQ(origin_.reads, 21);
  EXPECT_EQ(store->stats().damaged, 1U);
  EXPECT_TRUE(noticed("keep-damaged"));
  store->flush();
  EXPECT_EQ(epoch(*store), 20) << "and is kept again";
  store.reset();
  EXPECT_EQ(epoch(*open()), 20) << "the newer copy is the one that the next process takes";
}

TEST_F(KeepStoreTest, ATruncatedSegmentLosesItsEndOnly) {
  fill_origin(20);
  epoch(*open());
  std::filesystem::resize_file(files(".data").at(0), 10 * kSize + 1);
  auto store = open();
  EXPECT_EQ(epoch(*store), 10);
  EXPECT_EQ(origin_.reads, 30);
}

// juicefs#6192: a hole was read as zeros, of the right length.
TEST_F(KeepStoreTest, AHoleIsNotServedAsZeros) {
  fill_origin(20);
  epoch(*open());
  const auto data = files(".data").at(0);
  const auto size = std::filesystem::file_size(data);
  std::filesystem::resize_file(data, 5 * kSize);
  std::filesystem::resize_file(data, size);
  auto store = open();
  EXPECT_EQ(epoch(*store), 5);
  EXPECT_EQ(store->stats().damaged, 15U);
}

TEST_F(KeepStoreTest, ATornLogLosesItsEndOnly) {
  fill_origin(20);
  epoch(*open());
  const auto log = files(".log").at(0);
  std::filesystem::resize_file(log, std::filesystem::file_size(log) - 3);
  EXPECT_EQ(epoch(*open()), 19);
}

TEST_F(KeepStoreTest, ADamagedLogEntryEndsTheSegment) {
  fill_origin(20);
  epoch(*open());
  const auto log = files(".log").at(0);
  flip(log, static_cast<std::int64_t>(std::filesystem::file_size(log) / 2));
  const int hits = epoch(*open());
  EXPECT_GT(hits, 5);
  EXPECT_LT(hits, 15);
}

TEST_F(KeepStoreTest, AVanishedFileIsAMiss) {
  fill_origin(20);
  epoch(*open());
  std::filesystem::remove(files(".data").at(0));
  EXPECT_EQ(epoch(*open()), 0);
  EXPECT_EQ(origin_.reads, 40);
}

TEST_F(KeepStoreTest, ForeignFilesAndVersionsAreLeftAlone) {
  fill_origin(5);
  epoch(*open());
  const auto log = segments() / "s-000000000009-0000000000000001-100000.log";
  std::ofstream(log) << "another version";
  std::ofstream(segments() / "note.txt") << "hello";
  std::filesystem::create_directory(segments().parent_path() / "v2");
  std::ofstream(segments().parent_path() / "v2" / "s-1.log") << "of a later one";
  EXPECT_EQ(epoch(*open()), 5);
  EXPECT_TRUE(std::filesystem::exists(segments() / "note.txt"));
  EXPECT_TRUE(std::filesystem::exists(log)) << "not ours to read, nor to remove without need";
  EXPECT_TRUE(std::filesystem::exists(segments().parent_path() / "v2" / "s-1.log"));
}

TEST_F(KeepStoreTest, AProcessKilledWhileItFillsLosesNothingThatItLogged) {
  fill_origin(400, 50'000);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {  // no assertions here: it dies in the middle
    auto store = make_keep_store(origin_, {.dir = dir(), .limit_bytes = 1 << 30}, context_);
    int n = 0;
    for (const auto& [key, pin] : pins_) {
      std::ignore = read_now(**store, {.key = key, .pin = pin}).ok();
      if (++n == 200) {
        (*store)->flush();
        std::ignore = ::write(pipe[1], "x", 1);
      }
    }
    ::pause();
    ::_exit(0);
  }
  char byte = 0;
  ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(pipe[0]);
  ::close(pipe[1]);
  auto store = open();
  EXPECT_GE(epoch(*store), 200);
  store->flush();
  EXPECT_EQ(epoch(*store), 400);
}

}  // namespace
}  // namespace headrace
