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

#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/store_conformance.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::pattern;
using testing::TemporaryFolder;

/// Counts the reads that reach the origin; they can be held back.
class Origin final : public Store {
 public:
  std::string describe() const override { return "origin://set"; }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    return memory_.head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return memory_.list(request, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    ++reads;
    if (held) return waiting.push_back({std::move(request), std::move(done)});
    memory_.read(std::move(request), std::move(done));
  }
  void release() {
    held = false;
    for (auto& [request, done] : std::exchange(waiting, {}))
      memory_.read(std::move(request), std::move(done));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    return memory_.create(key, stop);
  }
  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    return memory_.remove(key, stop);
  }

  std::atomic<int> reads = 0;
  bool held = false;
  std::vector<std::pair<ReadRequest, ReadDone>> waiting;

 private:
  MemoryStore memory_{"origin://set"};
};

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

class KeepStoreTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kSize = 20'000;

  std::string dir() const { return folder_.string() + "/keep"; }
  std::filesystem::path segments() const { return dir() + "/v1"; }

  std::unique_ptr<KeepStore> open(std::uint64_t limit = 1 << 30) {
    auto made =
        make_keep_store(origin_, {.dir = dir(), .limit_bytes = limit, .read_threads = 2}, context_);
    EXPECT_TRUE(made) << made.error().to_string();
    return made ? *std::move(made) : nullptr;
  }
  /// The same, and it knows what is kept.
  std::unique_ptr<KeepStore> open_and_wait() {
    auto store = open();
    store->flush();
    return store;
  }
  void fill_origin(int objects, std::size_t size = kSize) {
    for (int i = 0; i < objects; ++i) {
      const auto key = fmt::format("c/{:04}", i);
      pins_[key] = *put(origin_, key, as_byte_span(pattern(seed_of(key), size)), {});
    }
  }
  std::uint64_t seed_of(const std::string& key) const { return std::hash<std::string>()(key); }

  /// Reads all; gives how many came from the cache. Wrong bytes fail the test.
  int epoch(Store& store) {
    int hits = 0;
    for (const auto& [key, pin] : pins_) {
      const auto got = read_now(store, {.key = key, .pin = pin});
      if (!got) {
        ADD_FAILURE() << got.error().to_string();
        continue;
      }
      EXPECT_TRUE(got->bytes.text() == pattern(seed_of(key), pin.size)) << key;
      EXPECT_EQ(got->pin, pin);
      hits += got->from_cache ? 1 : 0;
    }
    return hits;
  }
  std::vector<std::filesystem::path> files(const std::string& extension) const {
    std::vector<std::filesystem::path> found;
    for (const auto& entry : std::filesystem::directory_iterator(segments()))
      if (entry.path().extension() == extension) found.push_back(entry.path());
    return found;
  }
  std::uint64_t bytes_on_disk() const {
    std::uint64_t total = 0;
    for (const auto& entry : std::filesystem::directory_iterator(segments())) {
      struct stat status {};
      if (::stat(entry.path().c_str(), &status) == 0)
        total += std::max<std::uint64_t>(static_cast<std::uint64_t>(status.st_blocks) * 512,
                                         static_cast<std::uint64_t>(status.st_size));
    }
    return total;
  }
  bool noticed(const std::string& kind) const {
    for (const auto& notice : context_.notices->all())
      if (notice.kind == kind) return true;
    return false;
  }
  static void flip(const std::filesystem::path& file, std::int64_t at) {
    std::fstream stream(file, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(at);
    const int byte = stream.get();
    stream.seekp(at);
    stream.put(static_cast<char>(byte ^ 0x10));
  }

  TemporaryFolder folder_;
  Origin origin_;
  Context context_;
  std::map<std::string, Pin> pins_;
};

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
  origin_.held = true;
  std::atomic<int> right = 0;
  std::latch all(10);
  for (int i = 0; i < 10; ++i) {
    store->read({.key = "c/0000", .pin = pins_["c/0000"]}, [&](const Result<ReadResult>& got) {
      right += got && got->bytes.text() == pattern(seed_of("c/0000"), kSize) ? 1 : 0;
      all.count_down();
    });
  }
  EXPECT_EQ(origin_.waiting.size(), 1U);
  origin_.release();
  all.wait();
  EXPECT_EQ(right, 10);
  EXPECT_EQ(origin_.reads, 1);
}

TEST_F(KeepStoreTest, OneThatLeavesDoesNotTakeTheOthersWithIt) {
  fill_origin(1);
  auto store = open_and_wait();
  origin_.held = true;
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
  origin_.held = true;
  std::stop_source stop;
  Code code = Code::invalid;
  std::latch all(1);
  store->read({.key = "c/0000", .pin = pins_["c/0000"], .stop = stop.get_token()},
              [&](const Result<ReadResult>& got) {
                if (!got) code = got.error().code();
                all.count_down();
              });
  stop.request_stop();
  EXPECT_TRUE(origin_.waiting.at(0).first.stop.stop_requested());
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
  std::ofstream(segments() / "s-000000000009-0000000000000001-100000.log") << "another version";
  std::ofstream(segments() / "note.txt") << "hello";
  EXPECT_EQ(epoch(*open()), 5);
  EXPECT_TRUE(std::filesystem::exists(segments() / "note.txt"));
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

// --- room -----------------------------------------------------------------------------------

TEST_F(KeepStoreTest, TheLimitHoldsAndWhatFitsIsServed) {
  constexpr std::uint64_t kLimit = 4 << 20;
  fill_origin(400);  // 8 MB
  auto store = open(kLimit);
  EXPECT_EQ(epoch(*store), 0);
  store->flush();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_TRUE(noticed("keep-full"));
  for (int i = 0; i < 3; ++i) {
    const int hits = epoch(*store);
    store->flush();
    EXPECT_GT(hits, 400 * 0.45) << "a set twice the cache: half of it is served, each time";
    EXPECT_LE(bytes_on_disk(), kLimit);
  }
}

TEST_F(KeepStoreTest, WhatNoLiveJobWantsMakesRoom) {
  constexpr std::uint64_t kLimit = 4 << 20;
  fill_origin(180);
  epoch(*open(kLimit));
  MemoryStore other("origin://other");
  std::map<std::string, Pin> pins;
  for (int i = 0; i < 180; ++i) {
    const auto key = fmt::format("{}", i);
    pins[key] = *put(other, key, as_byte_span(pattern(1, kSize)), {});
  }
  auto store = make_keep_store(other, {.dir = dir(), .limit_bytes = kLimit}, context_);
  ASSERT_TRUE(store);
  for (const auto& [key, pin] : pins) EXPECT_TRUE(read_now(**store, {.key = key, .pin = pin}));
  (*store)->flush();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_GT((*store)->stats().stored_bytes, kLimit * 8 / 10);
}

TEST_F(KeepStoreTest, WhatALiveJobHoldsStays) {
  constexpr std::uint64_t kLimit = 4 << 20;
  fill_origin(180);
  auto mine = open(kLimit);
  epoch(*mine);
  mine->flush();
  MemoryStore other("origin://other");
  auto store = make_keep_store(other, {.dir = dir(), .limit_bytes = kLimit}, context_);
  ASSERT_TRUE(store);
  for (int i = 0; i < 180; ++i) {
    const auto key = fmt::format("{}", i);
    const Pin pin = *put(other, key, as_byte_span(pattern(1, kSize)), {});
    EXPECT_TRUE(read_now(**store, {.key = key, .pin = pin}));
  }
  (*store)->flush();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_EQ(epoch(*mine), 180);
}

TEST_F(KeepStoreTest, OldVersionsOfTheSameSetMakeRoom) {
  constexpr std::uint64_t kLimit = 4 << 20;
  fill_origin(180);
  epoch(*open(kLimit));
  fill_origin(180);  // the same keys, other versions
  auto store = open(kLimit);
  epoch(*store);
  store->flush();
  EXPECT_LE(bytes_on_disk(), kLimit);
  EXPECT_GT(epoch(*store), 100) << "already in the second epoch";
}

TEST_F(KeepStoreTest, WhatTwoPassesDidNotAskForMakesRoom) {
  constexpr std::uint64_t kLimit = 4 << 20;
  fill_origin(180);
  epoch(*open(kLimit));
  std::map<std::string, Pin> others;
  for (int i = 0; i < 150; ++i) {  // another part of the same store
    const auto key = fmt::format("d/{:04}", i);
    others[key] = *put(origin_, key, as_byte_span(pattern(seed_of(key), kSize)), {});
  }
  pins_ = others;
  auto store = open(kLimit);
  EXPECT_LT(epoch(*store), 20);
  store->flush();
  EXPECT_LT(epoch(*store), 40) << "the others might still be asked for";
  for (int i = 0; i < 3; ++i) {
    epoch(*store);
    store->flush();
  }
  EXPECT_EQ(epoch(*store), 150);
  EXPECT_LE(bytes_on_disk(), kLimit);
}

TEST_F(KeepStoreTest, ADirectoryOfOthersIsRefused) {
  std::filesystem::create_directory(dir());
  ::chmod(dir().c_str(), 0755);
  const auto made = make_keep_store(origin_, {.dir = dir()}, context_);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), Code::denied);
  EXPECT_NE(made.error().to_string().find("chmod 700"), std::string::npos);
  std::ofstream(folder_.path() / "file") << "x";
  EXPECT_FALSE(make_keep_store(origin_, {.dir = folder_.string() + "/file"}, context_));
}

TEST_F(KeepStoreTest, AVolumeInMemoryIsNotTakenForADisk) {
  struct statfs kind {};
  if (::statfs("/dev/shm", &kind) != 0 || kind.f_type != 0x01021994) GTEST_SKIP() << "no tmpfs";
  std::string dir = "/dev/shm/headrace-test-XXXXXX";
  ASSERT_NE(::mkdtemp(dir.data()), nullptr);
  fill_origin(5);
  {
    auto made = make_keep_store(origin_, {.dir = dir}, context_);
    ASSERT_TRUE(made);
    EXPECT_EQ(epoch(**made), 0);
    (*made)->flush();
    EXPECT_EQ(epoch(**made), 5);
    EXPECT_TRUE(noticed("keep-in-memory"));
    EXPECT_GT((*made)->stats().limit_bytes, 0U);
    EXPECT_LT((*made)->stats().limit_bytes,
              static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                  static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) * 6 / 10);
  }
  std::filesystem::remove_all(dir);
}

// --- derived bytes --------------------------------------------------------------------------

TEST_F(KeepStoreTest, DerivedBytesComeBackAndAreVerified) {
  const SideKey key{.store = "s3://b",
                    .object = "train.rec",
                    .pin = {.etag = "\"1\"", .size = 9},
                    .kind = "rec-index",
                    .version = 3};
  const std::string text = pattern(5, 700'000);
  {
    auto store = open();
    EXPECT_FALSE((*store->get(key)).has_value());
    ASSERT_TRUE(store->put(key, as_byte_span(text)));
    EXPECT_TRUE((**store->get(key)).text() == text);
    for (SideKey no : {key, key, key, key, key}) {
      static int which = 0;
      switch (which++) {
        case 0:
          no.kind = "snapshot";
          break;
        case 1:
          no.version = 4;
          break;
        case 2:
          no.pin.etag = "\"2\"";
          break;
        case 3:
          no.object = "val.rec";
          break;
        default:
          no.offset = 1;
      }
      EXPECT_FALSE((*store->get(no)).has_value());
    }
  }
  {
    auto store = open();
    EXPECT_TRUE((**store->get(key)).text() == text);
    ASSERT_TRUE(store->put(key, as_byte_span("short")));
    EXPECT_EQ((**store->get(key)).text(), "short") << "the last one put is the one there is";
    ASSERT_TRUE(store->put(key, {}));
    EXPECT_TRUE((**store->get(key)).empty());
    ASSERT_TRUE(store->put(key, as_byte_span(text)));
  }
  for (const auto& file : files(".data"))
    if (std::filesystem::file_size(file) > 600'000) flip(file, 500'000);
  auto store = open();
  const auto damaged = store->get(key);
  ASSERT_TRUE(damaged);
  EXPECT_TRUE(!damaged->has_value() || (**damaged).text() == text);
  ASSERT_TRUE(store->put(key, as_byte_span(text)));
  EXPECT_TRUE((**store->get(key)).text() == text);
}

}  // namespace
}  // namespace headrace
