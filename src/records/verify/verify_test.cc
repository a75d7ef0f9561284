// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/verify/verify.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "headrace/base/sha256.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/records/mds/mds.h"
#include "headrace/records/picture_kind.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/records/verify/report_page.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/mxnet/";

/// As little as passes for a JPEG: a segment, a scan with this content, the end mark.
std::string jpeg(const std::string& content) {
  const std::string head("\xff\xd8\xff\xe0\0\4ab\xff\xda\0\4cd", 14);
  return head + content + "\xff\xd9";
}

void add(Store& store, const std::string& key, const std::string& content) {
  ASSERT_TRUE(put(store, key, as_byte_span(content), {}));
}

VerifyReport verified(Store& store, const VerifyOptions& options = {}) {
  const Context context;
  const auto set = open_dataset(store, context, {});
  EXPECT_TRUE(set) << set.error().to_string();
  auto report = verify(store, **set, options, context);
  EXPECT_TRUE(report) << report.error().to_string();
  return *std::move(report);
}

TEST(Verify, CleanSetIsClean) {
  MemoryStore store;
  add(store, "cat/1.jpg", jpeg("one"));
  add(store, "cat/2.png", std::string("\x89PNG\r\n\x1a\n\0\0\0\0IEND....", 20));
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
  EXPECT_THAT(report.first_bad[1].why, HasSubstr("looks like a page of HTML"));
  EXPECT_THAT(report.first_bad[2].why, HasSubstr("that is cut"));
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
  const auto report = verify(store, **set, {}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->bad, 1U);
  EXPECT_THAT(report->first_bad[0].why, HasSubstr("replaced"));
}

// Promise V1: The report of `verify` does not depend on the number of jobs.
TEST(Verify, JobsChangeNothingInTheReport) {
  MemoryStore store;
  for (unsigned i = 0; i < 10'000; ++i) {
    const std::string content = fmt::format("picture {} {}", i % 900, std::string(i % 97, 'x'));
    add(store, fmt::format("c{}/{:05}", i % 7, i), i % 13 == 0 ? content : jpeg(content));
  }
  const auto one = verified(store);
  EXPECT_EQ(one.bad, 770U);
  for (const unsigned jobs : {2U, 7U}) {
    const auto many = verified(store, {.jobs = jobs});
    EXPECT_EQ(many.samples, one.samples);
    EXPECT_EQ(many.bad, one.bad);
    EXPECT_EQ(many.set_digest, one.set_digest);
    EXPECT_EQ(many.labels, one.labels);
    EXPECT_EQ(many.sizes, one.sizes);
    EXPECT_EQ(many.repeated, one.repeated);
    ASSERT_EQ(many.first_bad.size(), one.first_bad.size());
    for (std::size_t i = 0; i < one.first_bad.size(); ++i)
      EXPECT_EQ(many.first_bad[i].sample, one.first_bad[i].sample);
    ASSERT_EQ(many.odd.size(), one.odd.size());
    for (std::size_t i = 0; i < one.odd.size(); ++i) EXPECT_EQ(many.odd[i].name, one.odd[i].name);
  }
}

TEST(Verify, WithADecoderEveryPictureIsDecoded) {
  MemoryStore store;
  add(store, "cat/1.jpg", jpeg("wide"));
  add(store, "cat/2.jpg", jpeg("broken"));
  add(store, "cat/3.jpg", jpeg("square"));
  const VerifyOptions options{.jobs = 2, .decode = [](ByteSpan picture) -> Result<DecodedPicture> {
                                const auto text = as_text(picture);
                                if (text.find("broken") != std::string_view::npos)
                                  return Error(Code::corrupt, "does not decode");
                                if (text.find("wide") != std::string_view::npos)
                                  return DecodedPicture{.size = {900, 10}, .warnings = {}};
                                return DecodedPicture{.size = {10, 10}, .warnings = {}};
                              }};
  const auto report = verified(store, options);
  EXPECT_TRUE(report.decoded);
  EXPECT_EQ(report.good, 2U);
  EXPECT_EQ(report.first_bad.at(0).why, "does not decode");
  const auto stretched =
      std::ranges::find(report.odd, OddPicture::Kind::stretched, &OddPicture::kind);
  ASSERT_NE(stretched, report.odd.end());
  EXPECT_EQ(stretched->name, "cat/1.jpg");
  EXPECT_EQ(stretched->size.width, 900U);
}

TEST(Verify, ALabelBeyondTheClassListIsBad) {
  MemoryStore folder;
  MemoryStore packed;
  for (int i = 0; i < 3; ++i) add(folder, fmt::format("c{}/1", i), jpeg(fmt::format("{}", i)));
  const auto set = open_dataset(folder, {}, {});
  ASSERT_TRUE(convert(folder, **set, packed, {.key = "x"}, {}));
  EXPECT_TRUE(verified(packed).clean());
  add(packed, "x.classes.txt", "c0\nc1\n");
  const auto report = verified(packed);
  EXPECT_EQ(report.bad, 1U);
  EXPECT_THAT(report.first_bad.at(0).why, HasSubstr("label 2 is no class of the 2"));
  add(packed, "x.classes.txt", "c0\nc1\nc2\nc3\n");
  EXPECT_THAT(verified(packed).empty_classes, ElementsAre("c3"));
}

// Promise V2: A set whose own numbering says that shards are missing is not clean.
TEST(Verify, ASetWhoseShardsAreMissingIsNotClean) {
  MemoryStore folder;
  MemoryStore packed;
  for (int i = 0; i < 6; ++i) add(folder, fmt::format("c/{}", i), jpeg(fmt::format("{}", i)));
  const auto set = open_dataset(folder, {}, {});
  ASSERT_TRUE(convert(folder, **set, packed, {.key = "x", .shards = 3}, {}));
  EXPECT_TRUE(verified(packed).clean());
  ASSERT_TRUE(packed.remove("x-00001-of-00003.rec", {}));
  const auto report = verified(packed);
  EXPECT_EQ(report.bad, 0U);
  EXPECT_FALSE(report.clean());
  EXPECT_THAT(report.missing, HasSubstr("2 of 3 shards"));
}

/// An MDS set of 6 samples in 2 plain shards, which carry hashes.
void write_mds(Store& target) {
  MemoryStore folder;
  for (int i = 0; i < 6; ++i)
    add(folder, fmt::format("c/{}", i), jpeg(fmt::format("picture {}", i)));
  const auto set = open_dataset(folder, {}, {});
  ASSERT_TRUE(convert(folder, **set, target, {.format = "mds", .shards = 2}, {}));
}

// The picture still looks like one: only the hash of the whole shard tells.
TEST(Verify, AFlippedBitInAPlainMdsShardMakesItsSamplesBad) {
  MemoryStore store;
  write_mds(store);
  EXPECT_TRUE(verified(store).clean());
  const auto whole = read_now(store, {.key = "shard.00001.mds"});
  ASSERT_TRUE(whole);
  std::string bytes(whole->bytes.text());
  const auto at = bytes.find("picture 4");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'P';
  add(store, "shard.00001.mds", bytes);
  const auto report = verified(store);
  EXPECT_FALSE(report.clean());
  EXPECT_EQ(report.good, 3U);
  ASSERT_THAT(report.first_bad, SizeIs(3));
  EXPECT_EQ(report.first_bad[0].sample, 3U);
  EXPECT_EQ(report.first_bad[0].why, "xxh64 of its shard is not the index's");
}

TEST(Verify, AnMdsShardIsReadOnceMoreBeforeItsHashIsBelieved) {
  MemoryStore store;
  write_mds(store);
  const Context context;
  const auto set = open_dataset(store, context, {});
  ASSERT_TRUE(set);
  testing::FailingStore once(store, testing::fail_kth(testing::Call::Kind::read, 0,
                                                      {.kind = testing::Fault::Kind::corrupt}));
  const auto wrong = find_wrong_shards(once, **set, *context.notices, {});
  ASSERT_TRUE(wrong);
  EXPECT_THAT(*wrong, IsEmpty());
  const auto notices = context.notices->all();
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].kind, "read-again");
  testing::FailingStore gone(store, testing::fail_kth(testing::Call::Kind::read, 1, {}));
  EXPECT_EQ(find_wrong_shards(gone, **set, *context.notices, {}).error().code(), Code::unavailable);
}

TEST(Verify, WhatIsGoodAtTheSecondLookIsGood) {
  MemoryStore store;
  for (int i = 0; i < 20; ++i) add(store, fmt::format("c/{}", i), jpeg(fmt::format("{}", i)));
  const Context context;
  const auto set = open_dataset(store, context, {});
  testing::FailingStore once(store, testing::fail_kth(testing::Call::Kind::read, 4,
                                                      {.kind = testing::Fault::Kind::shorten}));
  const auto report = verify(once, **set, {}, context);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->clean());
  EXPECT_EQ(once.faults(), 1U);
  const auto notices = context.notices->all();
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_EQ(notices[0].kind, "read-again");
}

TEST(Verify, ThePageShowsWhatIsWrongAndHoldsNoMarkupOfNames) {
  MemoryStore store;
  add(store, "c<at>/1&.jpg", jpeg("good"));
  add(store, "c<at>/2.jpg", "\xff\xd8\xff\xe0 cut");
  const Context context;
  const auto set = open_dataset(store, context, {});
  const auto report = verify(store, **set, {}, context);
  const auto page = report_page(*report, {.uri = "memory://",
                                          .format = "folder",
                                          .classes = (*set)->classes(),
                                          .notices = {},
                                          .pictures = read_shown(store, **set, *report, {})});
  EXPECT_THAT(page, HasSubstr("Not clean"));
  EXPECT_THAT(page, HasSubstr("c&lt;at&gt;/2.jpg"));
  EXPECT_THAT(page, HasSubstr("data:image/jpeg;base64,/9j/"));
  EXPECT_THAT(page, Not(HasSubstr("<at>")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
}

TEST(Inspect, SummaryComesFromTheIndex) {
  MemoryStore store;
  add(store, "cat/1.jpg", "pictures");
  add(store, "dog/1.jpg", "small");
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
