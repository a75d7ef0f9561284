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
