// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/verify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headrace/records/inspect/inspect.h"
#include "headrace/records/picture_kind.h"
#include "headrace/records/sha256.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/mxnet/";

std::string jpeg(const std::string& content) { return "\xff\xd8\xff" + content + "\xff\xd9"; }

void add(Store& store, const std::string& key, const std::string& content) {
  ASSERT_TRUE(put(store, key, as_byte_span(content), {}));
}

VerifyReport verified(Store& store) {
  const auto set = open_dataset(store, {}, {});
  EXPECT_TRUE(set) << set.error().to_string();
  auto report = verify(store, **set, {});
  EXPECT_TRUE(report) << report.error().to_string();
  return *std::move(report);
}

TEST(Verify, CleanSetIsClean) {
  MemoryStore store;
  add(store, "cat/1.jpg", jpeg("one"));
  add(store, "cat/2.png", "\x89PNG\r\n\x1a\n....IEND....");
  add(store, "dog/1.jpg", jpeg("three"));
  const auto report = verified(store);
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.samples, 3U);
  EXPECT_EQ(report.kinds.at("jpeg"), 2U);
  EXPECT_EQ(report.kinds.at("png"), 1U);
  EXPECT_EQ(report.labels.at(0), 2U);
  EXPECT_EQ(report.labels.at(1), 1U);
  EXPECT_EQ(report.repeated, 0U);
}

TEST(Verify, WhatIsNoPictureIsBadAndListed) {
  MemoryStore store;
  add(store, "cat/1.jpg", "");
  add(store, "cat/2.jpg", "<html>");
  add(store, "cat/3.jpg", "\xff\xd8\xff cut");
  add(store, "cat/4.jpg", jpeg("good"));
  const auto report = verified(store);
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.bad, 3U);
  EXPECT_EQ(report.good, 1U);
  ASSERT_THAT(report.first_bad, SizeIs(3));
  EXPECT_EQ(report.first_bad[0].why, "an empty picture");
  EXPECT_THAT(report.first_bad[1].why, HasSubstr("no known kind"));
  EXPECT_THAT(report.first_bad[2].why, HasSubstr("without its end"));
  EXPECT_EQ(report.first_bad[2].name, "cat/3.jpg");
  EXPECT_EQ(report.first_bad[2].end, 7U);
}

TEST(Verify, RepeatedPicturesAreFoundAcrossClasses) {
  MemoryStore store;
  for (const auto* key : {"cat/1", "cat/2", "dog/1"}) add(store, key, jpeg("same"));
  for (const auto* key : {"dog/2", "dog/3"}) add(store, key, jpeg("twin"));
  add(store, "dog/4", jpeg("alone"));
  const auto report = verified(store);
  EXPECT_TRUE(report.clean());
  EXPECT_EQ(report.repeated, 3U);
  ASSERT_THAT(report.first_repeated, SizeIs(2));
  EXPECT_THAT(report.first_repeated[0].names, ElementsAre("cat/1", "cat/2", "dog/1"));
  EXPECT_TRUE(report.first_repeated[0].labels_differ);
  EXPECT_FALSE(report.first_repeated[1].labels_differ);
}

TEST(Verify, DamageOfAContainerIsBad) {
  MemoryStore store;
  ASSERT_TRUE(
      put(store, "x.rec", testing::read_file(kVectors + "damage_bad_magic.rec").span(), {}));
  const auto report = verified(store);
  EXPECT_EQ(report.bad, 1U);
  EXPECT_EQ(report.good, 5U);
  EXPECT_EQ(report.first_bad.at(0).begin, 41368U);
}

TEST(Verify, AnObjectThatChangedIsBad) {
  MemoryStore store;
  add(store, "cat/1.jpg", jpeg("one"));
  const auto set = open_dataset(store, {}, {});
  add(store, "cat/1.jpg", jpeg("other"));
  const auto report = verify(store, **set, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->bad, 1U);
  EXPECT_THAT(report->first_bad[0].why, HasSubstr("replaced"));
}

TEST(Inspect, SummaryComesFromTheIndex) {
  MemoryStore store;
  add(store, "cat/1.jpg", jpeg("one"));
  add(store, "dog/1.jpg", jpeg(""));
  const auto set = open_dataset(store, {}, {});
  const Summary summary = summarise(**set);
  EXPECT_EQ(summary.format, "folder");
  EXPECT_EQ(summary.samples, 2U);
  EXPECT_EQ(summary.frame_bytes, 13U);
  EXPECT_EQ(summary.smallest, 5U);
  EXPECT_EQ(summary.largest, 8U);
  EXPECT_THAT(summary.classes, ElementsAre("cat", "dog"));
  EXPECT_EQ(summary.index_source, "listing");
}

TEST(Inspect, RecordsAreListedAsFramed) {
  MemoryStore store;
  ASSERT_TRUE(put(store, "x.rec", testing::read_file(kVectors + "empty.rec").span(), {}));
  const auto set = open_dataset(store, {}, {});
  std::vector<RecordLine> lines;
  const auto end = list_records(store, **set, {}, {},
                                [&lines](const RecordLine& line) { lines.push_back(line); });
  ASSERT_TRUE(end);
  EXPECT_EQ(end->records, 9U);
  EXPECT_THAT(end->damage, IsEmpty());
  ASSERT_THAT(lines, SizeIs(9));
  EXPECT_EQ(lines[1].length, 0U);
  EXPECT_THAT(lines[1].labels, IsEmpty());
  EXPECT_EQ(lines[2].length, 24U);
  EXPECT_EQ(lines[7].sha256, "015275e61fa0d0751c1d9f45541c7804c895404455470710ade3786f282f2da0");
}

TEST(Inspect, DamageIsListedOnceWithItsTrueEnd) {
  MemoryStore store;
  ASSERT_TRUE(
      put(store, "x.rec", testing::read_file(kVectors + "damage_bad_magic.rec").span(), {}));
  const auto set = open_dataset(store, {}, {});
  const auto end = list_records(store, **set, {}, {}, [](const RecordLine&) {});
  ASSERT_TRUE(end);
  EXPECT_EQ(end->records, 5U);
  ASSERT_THAT(end->damage, SizeIs(1));
  EXPECT_EQ(end->damage[0].damage.begin, 41368U);
  EXPECT_EQ(end->damage[0].damage.end, 51988U);
}

TEST(PictureKind, MagicTells) {
  EXPECT_EQ(picture_kind(as_byte_span("")), "empty");
  EXPECT_EQ(picture_kind(as_byte_span("RIFF....WEBP")), "webp");
  EXPECT_EQ(picture_kind(as_byte_span("GIF89a")), "gif");
  EXPECT_EQ(picture_kind(as_byte_span("RIFF")), "unknown");
  EXPECT_EQ(picture_problem(as_byte_span(std::string("RIFF\x10\0\0\0WEBP", 12))),
            "a WebP that is shorter than it says");
}

TEST(Sha256, IsTheOneOfTheStandard) {
  EXPECT_EQ(sha256_hex(as_byte_span("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace headrace
