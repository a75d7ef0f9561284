// SPDX-License-Identifier: Apache-2.0
// Writers of TFRecord and of protobuf RecordIO: what they write is read back the same.
#include "headrace/records/tfrecord/writer.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/records/formats.h"
#include "headrace/records/protobuf/writer.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

struct Given {
  std::vector<float> labels;
  std::string picture;
  std::string file;
};

std::vector<Given> samples() {
  const std::string magic = "\x0a\x23\xd7\xce";
  return {{{0}, "\xff\xd8 one", "cat/1.jpg"},
          {{1}, magic + magic + "two", "dog/2.jpg"},
          {{16777216}, "\x89PNG\r\n\x1a\n three", "dog/3.png"},
          {{0.5F, -2, 3}, std::string(300000, 'x'), "dog/4.jpg"},
          {{7}, "five", ""}};
}

struct Case {
  const char* format;
  const char* compression;
};

class Writers : public ::testing::TestWithParam<Case> {};

INSTANTIATE_TEST_SUITE_P(Each, Writers,
                         ::testing::Values(Case{"tfrecord", ""}, Case{"tfrecord", "gzip"},
                                           Case{"tfrecord", "zlib"}, Case{"protobuf", ""}),
                         [](const auto& one) {
                           return std::string(one.param.format) + one.param.compression;
                         });

WrittenShard write(Store& store, const Case& one, std::uint64_t shard, std::uint64_t shards) {
  const SetPlace place{.store = store,
                       .key = "set/train",
                       .classes = {},
                       .compression = one.compression,
                       .notices = nullptr,
                       .stop = {}};
  const Format* format = find_format(one.format);
  auto writer = format->writer->open(place, shard, shards);
  EXPECT_TRUE(writer) << writer.error().to_string();
  std::uint64_t id = 0;
  for (const Given& given : samples()) {
    EXPECT_TRUE((*writer)->add({.id = id++,
                                .labels = given.labels,
                                .payload = as_byte_span(given.picture),
                                .name = "n",
                                .file = given.file}));
  }
  auto written = (*writer)->finish();
  EXPECT_TRUE(written) << written.error().to_string();
  return *std::move(written);
}

TEST_P(Writers, WhatIsWrittenIsReadBackTheSame) {
  MemoryStore store;
  const auto written = write(store, GetParam(), 1, 2);
  EXPECT_EQ(written.samples, 5U);
  ASSERT_EQ(written.keys.size(), 1U);
  EXPECT_EQ(store.head(written.keys[0], {})->size, written.bytes);
  EXPECT_TRUE(written.keys[0].starts_with("set/train-00001-of-00002."));
  EXPECT_TRUE(find_format(GetParam().format)->writer->owns(written.keys[0], "set/train"));

  const auto set = open_dataset(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), GetParam().format);
  const auto given = samples();
  ASSERT_EQ((*set)->size(), given.size());
  for (std::uint64_t i = 0; i < given.size(); ++i) {
    const Extent extent = (*set)->locate(SampleId{i});
    const auto frame = read_now(store, {.key = extent.key, .range = extent.range});
    const auto sample = (*set)->parse(SampleId{i}, frame->bytes);
    ASSERT_TRUE(sample) << sample.error().to_string();
    EXPECT_EQ(sample->labels, given[i].labels);
    EXPECT_EQ(sample->payload.text(), given[i].picture);
    EXPECT_EQ((*set)->file(SampleId{i}, frame->bytes), given[i].file);
  }
}

TEST_P(Writers, TheSameSamplesGiveTheSameBytes) {
  MemoryStore store;
  MemoryStore other;
  const auto written = write(store, GetParam(), 0, 1);
  write(other, GetParam(), 0, 1);
  EXPECT_EQ(read_now(store, {.key = written.keys[0]})->bytes.text(),
            read_now(other, {.key = written.keys[0]})->bytes.text());
}

// Convert reserves memory by it.
TEST_P(Writers, TheOverheadIsNotMoreThanSaid) {
  if (std::string(GetParam().compression) != "") return;
  MemoryStore store;
  const Format* format = find_format(GetParam().format);
  const SetPlace place{
      .store = store, .key = "x", .classes = {}, .compression = {}, .notices = nullptr, .stop = {}};
  for (const std::size_t size : {0U, 1U, 127U, 20000U, 3000000U}) {
    const std::string picture(size, 'x');
    const std::string name = "class/" + std::string(200, 'n');
    const float label = 16777216;
    auto writer = format->writer->open(place, 0, 1);
    ASSERT_TRUE((*writer)->add({.id = 1,
                                .labels = std::span(&label, 1),
                                .payload = as_byte_span(picture),
                                .name = name,
                                .file = name}));
    const auto written = (*writer)->finish();
    EXPECT_LE(written->bytes,
              size + format->writer->overhead + format->writer->names * name.size());
  }
}

}  // namespace
}  // namespace headrace
