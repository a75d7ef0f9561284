// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/convert.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "headrace/records/convert/plan.h"
#include "headrace/records/recordio/writer.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Digests {
  Hash128 order;
  Hash128 set;
  std::vector<std::string> classes;

  bool operator==(const Digests&) const = default;
};

/// Order and set digest of the samples in canonical order.
Digests digests(Store& store, const Dataset& set) {
  Digests sums{.order = {}, .set = {}, .classes = set.classes()};
  ReadAhead reader(store, set, {}, {});
  while (auto answer = reader.next()) {
    EXPECT_TRUE(answer->frame);
    const auto sample = set.parse(answer->id, *answer->frame);
    EXPECT_TRUE(sample) << sample.error().to_string();
    const auto payload = hash_bytes(sample->payload.span());
    const auto id = static_cast<std::uint64_t>(answer->id);
    sums.order += order_term(id, id, sample->labels, payload);
    sums.set += set_term(sample->labels, payload);
  }
  return sums;
}

Digests digests(Store& store) {
  const auto set = open_dataset(store, {}, {});
  EXPECT_TRUE(set) << set.error().to_string();
  return digests(store, **set);
}

std::map<std::string, std::string> contents(Store& store) {
  std::map<std::string, std::string> all;
  const auto infos = list_all(store, "", {});
  for (const auto& info : *infos) all[info.key] = read_now(store, {.key = info.key})->bytes.text();
  return all;
}

class ConvertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string magic("\x0a\x23\xd7\xce", 4);
    for (unsigned i = 0; i < 100; ++i) {
      // "a-b/" sorts before "a/", class "a" before "a-b"; some pictures hold the magic
      const auto key = fmt::format("{}/{}.jpg", i % 3 == 0 ? "a-b" : i % 3 == 1 ? "a" : "z", i);
      std::string picture = fmt::format("picture {} {}", i, std::string(i * 17 % 40, 'x'));
      if (i % 5 == 0) picture += magic + std::string(i % 4, 'y') + magic;
      ASSERT_TRUE(put(source_, key, as_byte_span(picture), {}));
    }
  }

  Result<ConvertReport> pack(Store& destination, const ConvertOptions& options) {
    HEADRACE_TRY(const auto set, open_dataset(source_, {}, {}));
    return convert(source_, *set, destination, options, {});
  }

  MemoryStore source_{"memory://source"};
};

TEST_F(ConvertTest, PackedSetHasTheDigestsAndClassesOfTheFolder) {
  MemoryStore packed;
  const auto report = pack(packed, {.key = "train"});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->samples, 100U);
  EXPECT_THAT(report->keys,
              ElementsAre("train.classes.txt", "train.rec", "train.idx", "train.lst"));
  EXPECT_EQ(digests(packed), digests(source_));
  EXPECT_EQ((*open_dataset(packed, {}, {}))->index_source(), "idx");
  EXPECT_THAT(contents(packed)["train.lst"], HasSubstr("0\t1\ta-b/0.jpg\n1\t1\ta-b/12.jpg\n"));
}

TEST_F(ConvertTest, TheSameInputGivesTheSameBytes) {
  MemoryStore one;
  MemoryStore other;
  ASSERT_TRUE(pack(one, {.key = "x", .reading = {.requests = 1}}));
  ASSERT_TRUE(pack(other, {.key = "x", .reading = {.requests = 64, .budget_bytes = 100}}));
  EXPECT_EQ(contents(one), contents(other));
}

TEST_F(ConvertTest, ShardsKeepTheOrder) {
  for (const auto& options :
       {ConvertOptions{.key = "x", .shards = 3}, ConvertOptions{.key = "x", .shard_bytes = 1000}}) {
    MemoryStore packed;
    const auto report = pack(packed, options);
    ASSERT_TRUE(report);
    EXPECT_GE(report->keys.size(), 10U);
    EXPECT_EQ(digests(packed), digests(source_));
    for (const auto& [key, content] : contents(packed)) {
      if (options.shard_bytes != 0 && key.ends_with(".rec")) {
        EXPECT_LE(content.size(), 1000U);
      }
    }
  }
}

TEST_F(ConvertTest, PackedAgainItStaysTheSame) {
  MemoryStore once;
  MemoryStore twice;
  ASSERT_TRUE(pack(once, {.key = "x", .shards = 2}));
  const auto set = open_dataset(once, {}, {});
  ASSERT_TRUE(set);
  ASSERT_TRUE(convert(once, **set, twice, {.key = "y"}, {}));
  EXPECT_EQ(digests(twice), digests(source_));
}

TEST_F(ConvertTest, AnExistingSetIsReplacedOnlyOnRequestAndThenWhole) {
  MemoryStore packed;
  ASSERT_TRUE(pack(packed, {.key = "x", .shards = 3}));
  ASSERT_TRUE(put(packed, "x-files.txt", as_byte_span("mine"), {}));
  const auto refused = pack(packed, {.key = "x"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::invalid);
  ASSERT_TRUE(pack(packed, {.key = "x", .shards = 2, .replace = true}));
  const auto all = contents(packed);
  EXPECT_TRUE(all.contains("x-00000-of-00002.rec"));
  EXPECT_FALSE(all.contains("x-00000-of-00003.rec"));
  EXPECT_TRUE(all.contains("x-files.txt"));
  EXPECT_EQ(digests(packed), digests(source_));
}

TEST_F(ConvertTest, OnRequestNothingStaysOfACallThatFailedButWhatWasThereBefore) {
  const auto set = open_dataset(source_, {}, {});
  ASSERT_TRUE(set);
  ASSERT_TRUE(source_.remove(std::string((*set)->name(SampleId{99})), {}));  // in the last shard
  MemoryStore packed;
  ASSERT_TRUE(put(packed, "mine.txt", as_byte_span("mine"), {}));
  EXPECT_FALSE(
      convert(source_, **set, packed, {.key = "x", .shards = 3, .keep_unfinished = false}, {}));
  EXPECT_EQ(contents(packed).size(), 1U);
  ASSERT_TRUE(pack(packed, {.key = "x"}));  // is not refused
  const auto old = contents(packed);
  EXPECT_FALSE(
      convert(source_, **set, packed, {.key = "x", .replace = true, .keep_unfinished = false}, {}));
  EXPECT_EQ(contents(packed), old);
}

TEST_F(ConvertTest, ASampleThatVanishedIsAnErrorOrSkippedAndReported) {
  const auto set = open_dataset(source_, {}, {});
  ASSERT_TRUE(set);
  ASSERT_TRUE(source_.remove("a/1.jpg", {}));
  MemoryStore packed;
  const auto failed = convert(source_, **set, packed, {.key = "x"}, {});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::not_found);
  EXPECT_THAT(failed.error().place(), HasSubstr("a/1.jpg"));
  EXPECT_FALSE(contents(packed).contains("x.rec"));
  const auto report =
      convert(source_, **set, packed, {.key = "x", .replace = true, .skip_bad = true}, {});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->skipped, 1U);
  EXPECT_EQ(report->first_skipped.at(0).name, "a/1.jpg");
  EXPECT_EQ((*open_dataset(packed, {}, {}))->size(), 99U);
}

TEST_F(ConvertTest, AnObjectThatChangedIsNeverSkipped) {
  const auto set = open_dataset(source_, {}, {});
  ASSERT_TRUE(put(source_, "a/1.jpg", as_byte_span("other"), {}));
  MemoryStore packed;
  const auto report = convert(source_, **set, packed, {.key = "x", .skip_bad = true}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::changed);
}

TEST_F(ConvertTest, EmptyPicturesKeepTheirNumbers) {
  ASSERT_TRUE(put(source_, "a/0-empty.jpg", {}, {}));
  MemoryStore packed;
  const auto report = pack(packed, {.key = "x"});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->samples, 101U);
  EXPECT_EQ((*open_dataset(packed, {}, {}))->size(), 101U);
}

TEST_F(ConvertTest, StopEndsItAndNothingAppears) {
  std::stop_source stop;
  stop.request_stop();
  const auto set = open_dataset(source_, {}, {});
  MemoryStore packed;
  const auto report = convert(source_, **set, packed, {.key = "x", .stop = stop.get_token()}, {});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code(), Code::cancelled);
  EXPECT_FALSE(contents(packed).contains("x.rec"));
}

TEST_F(ConvertTest, JobsChangeNoByte) {
  std::map<std::string, std::string> first;
  for (const unsigned jobs : {1U, 2U, 5U, 16U}) {
    MemoryStore packed;
    ASSERT_TRUE(pack(packed, {.key = "x", .shards = 7, .jobs = jobs}));
    if (first.empty()) first = contents(packed);
    EXPECT_EQ(contents(packed), first) << jobs;
  }
  EXPECT_EQ(first.size(), 3U * 7 + 1);
}

TEST_F(ConvertTest, FormatsAndCompressionsThatCannotBeWrittenAreNamed) {
  MemoryStore packed;
  const auto unknown = pack(packed, {.format = "hdf5", .key = "x"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().to_string(), HasSubstr("\"hdf5\""));
  const auto compressed = pack(packed, {.key = "x", .compression = "gzip"});
  ASSERT_FALSE(compressed);
  EXPECT_EQ(compressed.error().code(), Code::invalid);
  EXPECT_TRUE(contents(packed).empty());
}

TEST_F(ConvertTest, PicturesAreChangedInOrderWhateverTheJobs) {
  const PictureChange change{
      .text = "twice", .apply = [](const Bytes& picture) -> Result<Bytes> {
        return Bytes::copy_of(std::string(picture.text()) + std::string(picture.text()));
      }};
  std::map<std::string, std::string> first;
  for (const unsigned jobs : {1U, 2U, 8U}) {
    MemoryStore packed;
    const auto report = pack(packed, {.key = "x", .shards = 2, .change = change, .jobs = jobs});
    ASSERT_TRUE(report);
    if (first.empty()) first = contents(packed);
    EXPECT_EQ(contents(packed), first);
    const auto set = open_dataset(packed, {}, {});
    const auto frame = read_frame(packed, **set, SampleId{5}, false, {});
    const auto original = open_dataset(source_, {}, {});
    const auto before = read_frame(source_, **original, SampleId{5}, false, {});
    EXPECT_EQ((*set)->parse(SampleId{5}, *frame)->payload.size(), 2 * before->size());
  }
}

TEST_F(ConvertTest, APictureThatCannotBeChangedIsAnErrorOrSkipped) {
  const PictureChange change{.text = "no sevens",
                             .apply = [](const Bytes& picture) -> Result<Bytes> {
                               if (picture.text().starts_with("picture 7 "))
                                 return Error(Code::corrupt, "cannot be decoded");
                               return picture;
                             }};
  MemoryStore packed;
  const auto failed = pack(packed, {.key = "x", .change = change, .jobs = 3});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code(), Code::corrupt);
  const auto report = pack(packed, {.key = "x", .change = change, .jobs = 3, .skip_bad = true});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(report->skipped, 1U);
  EXPECT_THAT(report->first_skipped.at(0).why, HasSubstr("cannot be decoded"));
}

// The suspicious bytes came from memory or from a cache: what lies in the store is good.
TEST_F(ConvertTest, WhatLooksDamagedIsReadOnceMorePastTheCaches) {
  MemoryStore packed;
  ASSERT_TRUE(pack(packed, {.key = "x"}));
  const auto set = open_dataset(packed, {}, {});
  ASSERT_TRUE(set);
  testing::FailingStore once(packed, testing::fail_kth(testing::Call::Kind::read, 0,
                                                       {.kind = testing::Fault::Kind::corrupt}));
  MemoryStore copy;
  const Context context;
  const auto report = convert(once, **set, copy, {.key = "x"}, context);
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_EQ(digests(copy), digests(source_));
}

TEST_F(ConvertTest, ShardPlansAreEvenAndComplete) {
  const auto set = open_dataset(source_, {}, {});
  const auto starts = [&](const ConvertOptions& options) {
    const auto plan = converting::Plan::make(**set, options, recordio::writer_kind(), std::nullopt);
    EXPECT_TRUE(plan);
    std::vector<std::uint64_t> begins;
    for (const auto& shard : plan->shards()) begins.push_back(shard.begin);
    EXPECT_EQ(plan->shards().back().end, 100U);
    return begins;
  };
  EXPECT_THAT(starts({.key = "x", .shards = 3}), ElementsAre(0, 34, 67));
  EXPECT_EQ(starts({.key = "x", .shards = 1000}).size(), 100U);
  EXPECT_THAT(starts({.key = "x"}), ElementsAre(0));
  EXPECT_EQ(starts({.key = "x", .shard_bytes = 1}).size(), 100U);
}

}  // namespace
}  // namespace headrace
