// SPDX-License-Identifier: Apache-2.0
// What is read past the page cache is what lies in the file, and is left out of the cache.
#include "headrace/storage/local/direct.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <limits>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/local_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/store_conformance.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::local {
namespace {

using testing::TemporaryFolder;

const bool kRegistered = testing::register_store_conformance(
    {.name = "local past the page cache",
     .make = [](const Context& context) -> testing::StoreWorld::Made {
       auto folder = std::make_shared<TemporaryFolder>();
       return {folder,
               make_local_store(folder->string(), context, {.durable = false, .direct_after = 0})};
     },
     .any_slashes = false,
     .folder_markers = false,
     .key_beside_folder = false});

class DirectReads : public ::testing::Test {
 protected:
  DirectReads() {
    const std::string path = (folder_.path() / "file").string();
    std::ofstream(path, std::ios::binary) << text_;
    fd_ = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    ::fsync(fd_.get());
    drop();
  }
  void drop() { ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_DONTNEED); }
  bool cached(std::uint64_t offset) { return in_page_cache(fd_.get(), {offset, 1}); }
  std::string read(Reads& reads, std::uint64_t offset, std::uint64_t length, bool fresh = false) {
    const auto got = reads.read(fd_.get(), {offset, length}, fresh, {});
    EXPECT_TRUE(got.ok()) << got.error().to_string();
    return got.ok() ? std::string(got->text()) : "";
  }

  const std::string text_ = testing::pattern(9, (std::size_t{9} << 20U) + 1234);
  TemporaryFolder folder_;
  UniqueFd fd_;
};

TEST_F(DirectReads, AnyRangeIsExactlyItsBytes) {
  Reads reads(0);
  for (const std::uint64_t offset : {0U, 1U, 4095U, 4096U, 4097U, 123'457U}) {
    for (const std::uint64_t length : {1U, 65'536U, 65'537U, 110'000U, 5'000'000U})
      EXPECT_EQ(read(reads, offset, length), text_.substr(offset, length)) << offset;
  }
  const std::uint64_t last = text_.size() - 100'000;
  EXPECT_EQ(read(reads, last, 100'000), text_.substr(last)) << "up to the end";
  EXPECT_EQ(read(reads, last, 300'000), text_.substr(last)) << "and no further";
  EXPECT_EQ(read(reads, text_.size() - 10, 100'000), text_.substr(text_.size() - 10));
  EXPECT_EQ(read(reads, text_.size() + 5000, 100'000), "");
}

TEST_F(DirectReads, TheyAreLeftOutOfThePageCache) {
  if (cached(1 << 20U)) GTEST_SKIP() << "this file system keeps its pages";
  Reads reads(0);
  read(reads, 1 << 20U, 1 << 20U);
  if (!reads.possible()) GTEST_SKIP() << "this file system has no O_DIRECT";
  EXPECT_FALSE(cached(1 << 20U));
  Reads buffered(std::numeric_limits<std::uint64_t>::max());
  read(buffered, 1 << 20U, 1 << 20U);
  EXPECT_TRUE(cached(1 << 20U));
}

TEST_F(DirectReads, OnlyOnceTheMemorysWorthWasRead) {
  if (cached(0)) GTEST_SKIP() << "this file system keeps its pages";
  Reads reads(200'000);
  read(reads, 0, 150'000);
  EXPECT_TRUE(cached(0));
  drop();
  read(reads, 0, 150'000);
  EXPECT_TRUE(cached(0)) << "the limit lies within this one";
  drop();
  read(reads, 0, 150'000);
  if (reads.possible()) {
    EXPECT_FALSE(cached(0));
  }
}

TEST_F(DirectReads, WhatTheCacheHoldsIsExactToo) {
  Reads reads(0);
  std::string memory(100'000, '\0');
  ASSERT_EQ(::pread(fd_.get(), memory.data(), memory.size(), 0), 100'000);
  EXPECT_EQ(read(reads, 0, 100'000), text_.substr(0, 100'000));
  EXPECT_EQ(read(reads, 50'000, 100'000), text_.substr(50'000, 100'000)) << "or the half of it";
  EXPECT_EQ(read(reads, 0, 100'000, true), text_.substr(0, 100'000)) << "or it must be fresh";
}

// Records are shorter than pages, and share them: the kernel drops none that is told of in part.
TEST_F(DirectReads, WhatMustBeFreshIsNotTakenFromThePageCacheHoweverShort) {
  if (cached(0)) GTEST_SKIP() << "this file system keeps its pages";
  ::posix_fadvise(fd_.get(), 0, 0, POSIX_FADV_RANDOM);  // page by page: none hangs on others
  Reads reads(std::numeric_limits<std::uint64_t>::max());
  for (const std::uint64_t offset : {0U, 4000U, 5000U, 8191U, 12'288U}) {
    for (const std::uint64_t length : {1U, 10U, 200U, 5000U}) {
      read(reads, 0, 100'000);
      drop_from_page_cache(fd_.get(), {offset, length});
      EXPECT_FALSE(cached(offset)) << offset << " " << length;
      EXPECT_FALSE(cached(offset + length - 1)) << offset << " " << length;
      read(reads, 0, 100'000);
      EXPECT_TRUE(cached(offset));
      EXPECT_EQ(read(reads, offset, length, true), text_.substr(offset, length));
      if (reads.possible()) {
        EXPECT_FALSE(cached(offset)) << "read past it, too";
      }
    }
  }
  EXPECT_EQ(read(reads, 0, 0, true), "");
  EXPECT_EQ(read(reads, text_.size() - 10, 10, true), text_.substr(text_.size() - 10));
}

TEST_F(DirectReads, AStopIsHeeded) {
  Reads reads(0);
  std::stop_source stop;
  stop.request_stop();
  drop();
  const auto got = reads.read(fd_.get(), {0, 5'000'000}, true, stop.get_token());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace::local
