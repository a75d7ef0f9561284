// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/entry.h"

#include <gtest/gtest.h>

#include "headrace/base/random.h"
#include "headrace/storage/keep/index.h"

namespace headrace::keep {
namespace {

SegmentHeader header() {
  return {.salt = 7, .sequence = 3, .capacity = 1 << 20, .store = "s3://bucket/set"};
}
Entry entry(std::string_view name = "cat/1.jpg") {
  return {.kind = EntryKind::object,
          .object = {1, 2},
          .payload = {3, 4},
          .offset = 5,
          .length = 6,
          .data_offset = 7,
          .name = name};
}
std::vector<std::byte> encoded(std::uint64_t salt = 7, std::uint64_t at = 100) {
  std::vector<std::byte> log;
  append_entry(entry(), salt, at, log);
  return log;
}

TEST(SegmentLog, HeaderComesBack) {
  const auto bytes = encode(header());
  const auto parsed = parse_header(bytes);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->salt, 7U);
  EXPECT_EQ(parsed->sequence, 3U);
  EXPECT_EQ(parsed->capacity, 1U << 20U);
  EXPECT_EQ(parsed->store, "s3://bucket/set");
  EXPECT_EQ(parsed->bytes, bytes.size());
}

TEST(SegmentLog, AnyBitOfAHeaderMatters) {
  const auto good = encode(header());
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte(1U << (bit % 8));
    EXPECT_FALSE(parse_header(bad)) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_header(ByteSpan(good).first(size))) << size;
}

TEST(SegmentLog, EntryComesBack) {
  auto log = encoded();
  const std::size_t first = log.size();
  append_entry(entry(""), 7, 100, log);
  const auto parsed = parse_entry(log, 7, 100);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->bytes, first);
  EXPECT_EQ(parsed->entry.object, (Hash128{1, 2}));
  EXPECT_EQ(parsed->entry.payload, (Hash128{3, 4}));
  EXPECT_EQ(parsed->entry.offset, 5U);
  EXPECT_EQ(parsed->entry.length, 6U);
  EXPECT_EQ(parsed->entry.data_offset, 7U);
  EXPECT_EQ(parsed->entry.name, "cat/1.jpg");
  const auto second = parse_entry(ByteSpan(log).subspan(first), 7, 100 + first);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->entry.name, "");
}

TEST(SegmentLog, AnyBitOfAnEntryMatters) {
  const auto good = encoded();
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] ^= std::byte(1U << (bit % 8));
    EXPECT_FALSE(parse_entry(bad, 7, 100)) << bit;
  }
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse_entry(ByteSpan(good).first(size), 7, 100)) << size;
  EXPECT_FALSE(parse_entry(std::vector<std::byte>(4096), 7, 100)) << "zeros are no entry";
}

TEST(SegmentLog, AnEntryOfAnotherSegmentOrPlaceIsNone) {
  EXPECT_FALSE(parse_entry(encoded(8), 7, 100));
  EXPECT_FALSE(parse_entry(encoded(7, 200), 7, 100));
}

TEST(SegmentLog, NamesComeBackAndOthersAreNone) {
  const SegmentName name{.sequence = 12, .salt = 0xabcdef, .capacity = 4096};
  const auto parsed = SegmentName::parse(name.stem());
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->sequence, 12U);
  EXPECT_EQ(parsed->salt, 0xabcdefU);
  EXPECT_EQ(parsed->capacity, 4096U);
  for (const char* bad : {"", "s", "s-", "s-1", "s-1-2", "s-1-2-", "s-1-2-3x", "x-1-2-3", "s-g-2-3",
                          "s-1-2-3-4", "s-11111111111111111-2-3"})
    EXPECT_FALSE(SegmentName::parse(bad)) << bad;
}

TEST(SegmentLog, IdentityTellsVersionsApart) {
  const Pin pin{.etag = "\"a\"", .size = 5};
  const auto id = object_id("s3://b", "k", pin);
  EXPECT_EQ(id, object_id("s3://b", "k", {.etag = "\"a\"", .modified_ns = 9, .size = 5}));
  EXPECT_NE(id, object_id("s3://c", "k", pin));
  EXPECT_NE(id, object_id("s3://b", "l", pin));
  EXPECT_NE(id, object_id("s3://b", "k", {.etag = "\"b\"", .size = 5}));
  EXPECT_NE(id, object_id("s3://b", "k", {.etag = "\"a\"", .size = 6}));
  EXPECT_NE(id, object_id("s3://b", "k", {.version = "\"a\"", .size = 5}));
  EXPECT_NE(object_id("s3://b", "k", {.modified_ns = 1, .size = 5}),
            object_id("s3://b", "k", {.modified_ns = 2, .size = 5}));
  EXPECT_NE(object_id("s", "ab", pin), object_id("sa", "b", pin));
}

// --- index ----------------------------------------------------------------------------------

class IndexTest : public ::testing::Test {
 protected:
  void insert(std::uint64_t object, std::uint64_t offset, std::uint32_t length,
              std::uint32_t segment = 1, std::uint32_t data_offset = 0) {
    ASSERT_TRUE(index_.insert(
        id(object),
        {.offset = offset, .length = length, .data_offset = data_offset, .segment = segment}));
  }
  const Piece* find(std::uint64_t object, std::uint64_t offset) const {
    return index_.find(id(object), offset);
  }

  static Hash128 id(std::uint64_t n) { return {mix64(n), mix64(~n)}; }

  std::uint32_t dead_ = 0;
  Index index_{[this](std::uint32_t segment) { return segment != dead_; }};
};

TEST_F(IndexTest, APieceIsFoundByAnyByteOfIt) {
  insert(1, 100'000, 200'000);
  EXPECT_EQ(find(1, 99'999), nullptr);
  for (const std::uint64_t at : {100'000U, 150'000U, 299'999U}) {
    ASSERT_NE(find(1, at), nullptr) << at;
    EXPECT_EQ(find(1, at)->offset, 100'000U);
  }
  EXPECT_EQ(find(1, 300'000), nullptr);
  EXPECT_EQ(find(2, 100'000), nullptr);
}

TEST_F(IndexTest, OfSeveralTheOneThatReachesFarthest) {
  insert(1, 0, 10);
  insert(1, 0, 1000);
  insert(1, 5, 20);
  EXPECT_EQ(find(1, 6)->length, 1000U);
}

TEST_F(IndexTest, ManyPiecesSurviveGrowth) {
  for (std::uint64_t i = 0; i < 50'000; ++i) insert(i, 0, 10, 1, static_cast<std::uint32_t>(i));
  EXPECT_EQ(index_.entries(), 50'000U);
  for (std::uint64_t i = 0; i < 50'000; ++i) {
    ASSERT_NE(find(i, 0), nullptr);
    EXPECT_EQ(find(i, 0)->data_offset, i);
  }
}

TEST_F(IndexTest, TheSamePieceAgainReplacesTheOld) {
  insert(1, 0, 10, 1);
  insert(1, 0, 10, 2);
  EXPECT_EQ(index_.entries(), 1U);
  EXPECT_EQ(find(1, 0)->segment, 2U);
}

TEST_F(IndexTest, DroppedAndDeadPiecesAreNotFound) {
  insert(1, 0, 10, 1);
  insert(2, 0, 10, 2);
  index_.drop(Piece(*find(1, 0)));
  EXPECT_EQ(find(1, 0), nullptr);
  EXPECT_FALSE(index_.holds(id(1), 0, 10));
  dead_ = 2;
  EXPECT_EQ(find(2, 0), nullptr);
  insert(1, 0, 10, 3);
  EXPECT_EQ(find(1, 0)->segment, 3U);
  EXPECT_TRUE(index_.holds(id(1), 0, 10));
}

TEST_F(IndexTest, DroppingAnOldPieceSparesTheNewOne) {
  insert(1, 0, 10, 1);
  const Piece old = *find(1, 0);
  insert(1, 0, 10, 2);
  index_.drop(old);
  EXPECT_NE(find(1, 0), nullptr);
}

}  // namespace
}  // namespace headrace::keep
