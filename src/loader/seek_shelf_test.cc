// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/seek_shelf.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "headrace/storage/memory/memory_side_store.h"

namespace headrace {
namespace {

constexpr std::uint64_t kSamples = 1300;  // three stretches

std::string index_of(std::uint64_t sample) { return std::string(sample % 90 + 1, 'i'); }

std::unique_ptr<SeekMemory> memory() { return *SeekMemory::make(kSamples, 1U << 26U); }

/// Every `step`-th sample from `first` on was recorded.
void record(SeekMemory& into, std::uint64_t first, std::uint64_t step) {
  for (std::uint64_t i = first; i < kSamples; i += step) into.put(i, as_byte_span(index_of(i)));
}

SeekShelf shelf(SideStore& side, std::uint64_t rank = 0, const std::string& fingerprint = "f") {
  return {side, "s3://b/set", fingerprint, kSamples, rank};
}

std::uint64_t load_right(SideStore& side, const std::string& fingerprint = "f") {
  const auto loaded = memory();
  shelf(side, 5, fingerprint).load(*loaded, {});
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < kSamples; ++i) {
    const auto index = loaded->get(i);
    if (index.empty()) continue;
    EXPECT_EQ(as_text(index), index_of(i)) << i;
    EXPECT_FALSE(loaded->is_recorded(i)) << "it came from an earlier job";
    ++count;
  }
  return count;
}

/// Counts what is put.
class CountingSide final : public SideStore {
 public:
  Result<std::optional<Bytes>> get(const SideKey& key) override { return side_.get(key); }
  Result<void> put(const SideKey& key, ByteSpan content) override {
    ++puts;
    bytes += content.size();
    return side_.put(key, content);
  }
  int puts = 0;
  std::uint64_t bytes = 0;

 private:
  MemorySideStore side_;
};

TEST(SeekShelf, TheNextJobFindsWhatThisOneRecorded) {
  CountingSide side;
  auto recorded = memory();
  record(*recorded, 0, 1);
  ASSERT_TRUE(shelf(side).save(*recorded, {}));
  EXPECT_EQ(load_right(side), kSamples);
  EXPECT_EQ(load_right(side, "another set"), 0U);
}

TEST(SeekShelf, NothingNewIsNothingWritten) {
  CountingSide side;
  const auto recorded = memory();
  record(*recorded, 0, 2);
  auto mine = shelf(side);
  ASSERT_TRUE(mine.save(*recorded, {}));
  const int puts = side.puts;
  EXPECT_EQ(puts, 3);
  ASSERT_TRUE(mine.save(*recorded, {}));
  EXPECT_EQ(side.puts, puts);
  record(*recorded, 1, 2);
  ASSERT_TRUE(mine.save(*recorded, {}));
  EXPECT_EQ(load_right(side), kSamples);
}

TEST(SeekShelf, RanksAddUpAndKeepEachIndexOnce) {
  CountingSide side;
  constexpr std::uint64_t kRanks = 4;
  for (std::uint64_t rank = 0; rank < kRanks; ++rank) {
    const auto recorded = memory();
    record(*recorded, rank, kRanks);
    ASSERT_TRUE(shelf(side, rank).save(*recorded, {}));
  }
  EXPECT_EQ(load_right(side), kSamples);
  const std::uint64_t before = side.bytes;
  // In the next epoch each rank sees others' samples, and has recorded some of them again.
  const auto recorded = memory();
  record(*recorded, 0, 1);
  ASSERT_TRUE(shelf(side, 0).save(*recorded, {}));
  EXPECT_LT(side.bytes - before, before / 2) << "what others have kept is not kept again";
  EXPECT_EQ(load_right(side), kSamples);
}

TEST(SeekShelf, WhatAnEarlierJobKeptStays) {
  MemorySideStore side;
  for (const std::uint64_t first : {0U, 1U, 2U}) {
    const auto recorded = memory();
    record(*recorded, first, 3);
    ASSERT_TRUE(shelf(side).save(*recorded, {}));
  }
  EXPECT_EQ(load_right(side), kSamples);
}

TEST(SeekShelf, AnEntryThatIsNotWellFormedIsNone) {
  MemorySideStore side;
  const auto put = [&side](const std::string& content) {
    ASSERT_TRUE(side.put({.store = "s3://b/set", .object = "f", .kind = "jpeg-seek", .version = 1},
                         as_byte_span(content)));
  };
  const std::string good("\x07\0\0\0\x01\0\0\0x", 9);
  for (const std::string& bad :
       {std::string("short"), std::string("\0\2\0\0\1\0\0\0x", 9), good.substr(0, 8), good + "tail",
        std::string("\1\0\0\0\xff\xff\xff\xffx", 9)}) {
    put(bad);
    const auto loaded = memory();
    EXPECT_EQ(shelf(side).load(*loaded, {}), 0U);
  }
  put(good);
  const auto loaded = memory();
  EXPECT_EQ(shelf(side).load(*loaded, {}), 1U);
  EXPECT_EQ(as_text(loaded->get(7)), "x");
}

}  // namespace
}  // namespace headrace
