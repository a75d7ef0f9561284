// SPDX-License-Identifier: Apache-2.0
// What every format that is written must do, one by one: formats.cc tells which there are.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"
#include "headrace/records/dataset.h"
#include "headrace/records/formats.h"
#include "headrace/records/frames.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

struct Given {
  float label;
  std::string payload;
  std::string file;
};

/// Sorted by class and path, so that folders keep the order, too. Sizes on both sides of blocks.
std::vector<Given> samples(int count) {
  std::vector<Given> all;
  for (int i = 0; i < count; ++i) {
    const int label = i * 3 / count;
    std::string payload = "\xff\xd8\xff";
    for (int k = 0; k < i * 173 % 1400; ++k) payload += static_cast<char>(i * 31 + k * 7);
    const char* const name = label == 0 ? "cat" : label == 1 ? "dog" : "eel";
    all.push_back({.label = static_cast<float>(label),
                   .payload = payload,
                   .file = fmt::format("{}/{:03}.jpg", name, i)});
  }
  return all;
}

const std::vector<std::string> kClasses = {"cat", "dog", "eel"};

std::vector<std::string> write(MemoryStore& store, const Format& format,
                               const std::vector<Given>& given, std::uint64_t shards,
                               bool with_files, const std::string& compression = {}) {
  const SetPlace place{
      .store = store, .key = "train", .classes = kClasses, .compression = compression, .stop = {}};
  std::vector<std::string> written;
  std::vector<WrittenShard> done;
  for (std::uint64_t shard = 0; shard < shards; ++shard) {
    auto writer = format.writer->open(place, shard, shards);
    EXPECT_TRUE(writer) << writer.error().to_string();
    const std::uint64_t begin = given.size() * shard / shards;
    const std::uint64_t end = given.size() * (shard + 1) / shards;
    for (std::uint64_t id = begin; id < end; ++id) {
      const Given& one = given[id];
      const auto added = (*writer)->add({.id = id,
                                         .labels = std::span(&one.label, 1),
                                         .payload = as_byte_span(one.payload),
                                         .name = one.file,
                                         .file = with_files ? one.file : ""});
      EXPECT_TRUE(added) << added.error().to_string();
    }
    auto finished = (*writer)->finish();
    EXPECT_TRUE(finished) << finished.error().to_string();
    EXPECT_EQ(finished->samples, end - begin);
    written.insert(written.end(), finished->keys.begin(), finished->keys.end());
    done.push_back(*std::move(finished));
  }
  if (format.writer->finish_set != nullptr) {
    const auto keys = format.writer->finish_set(place, done);
    EXPECT_TRUE(keys) << keys.error().to_string();
    if (keys) written.insert(written.end(), keys->begin(), keys->end());
  }
  for (const std::string& key : written) EXPECT_TRUE(format.writer->owns(key, "train")) << key;
  if (format.name == "folder") return written;  // all in it is its own
  for (const char* other : {"train.json", "trainer/1.txt", "train2.rec", "train/notes.txt", "x"})
    EXPECT_FALSE(format.writer->owns(other, "train")) << other;
  return written;
}

Result<Sample> read(Store& store, const Dataset& set, SampleId id) {
  const Extent extent = set.locate(id);
  HEADRACE_TRY(const auto got,
               read_now(frames_of(set, store),
                        {.key = extent.key, .range = extent.range, .pin = extent.pin}));
  EXPECT_EQ(got.bytes.size(), set.frame_bytes(id));
  return set.parse(id, got.bytes);
}

class Formats : public ::testing::TestWithParam<const Format*> {};

TEST_P(Formats, GiveBackOrderLabelsAndPayloads) {
  const Format& format = *GetParam();
  const auto given = samples(40);
  for (const std::uint64_t shards : {1U, 3U}) {
    for (const bool with_files : {true, false}) {
      SCOPED_TRACE(fmt::format("{} shards, paths: {}", shards, with_files));
      MemoryStore store;
      write(store, format, given, shards, with_files);
      const auto set = open_dataset(store, {}, {});
      ASSERT_TRUE(set) << set.error().to_string();
      EXPECT_EQ((*set)->format(), format.name);
      EXPECT_TRUE((*set)->damage().empty());
      ASSERT_EQ((*set)->size(), given.size());
      for (std::uint64_t id = 0; id < given.size(); ++id) {
        const auto sample = read(store, **set, SampleId{id});
        ASSERT_TRUE(sample) << sample.error().to_string();
        EXPECT_EQ(sample->labels, std::vector<float>{given[id].label});
        EXPECT_TRUE(sample->payload.text() == given[id].payload) << id;
      }
    }
  }
}

TEST_P(Formats, ReadTheSameInAnyOrderAndAgain) {
  const Format& format = *GetParam();
  const auto given = samples(20);
  MemoryStore store;
  write(store, format, given, 2, true);
  const auto first = open_dataset(store, {}, {});
  const auto second = open_dataset(store, {}, {});
  ASSERT_TRUE(first && second);
  EXPECT_EQ((*first)->fingerprint(), (*second)->fingerprint());
  for (std::uint64_t id = given.size(); id-- > 0;) {
    const auto sample = read(store, **second, SampleId{id});
    ASSERT_TRUE(sample) << sample.error().to_string();
    EXPECT_TRUE(sample->payload.text() == given[id].payload) << id;
  }
}

TEST_P(Formats, AreWrittenTheSameByteForByte) {
  const Format& format = *GetParam();
  std::vector<std::string> compressions = {""};
  for (const std::string_view one : format.writer->compressions) compressions.emplace_back(one);
  for (const std::string& compression : compressions) {
    SCOPED_TRACE(compression);
    MemoryStore one;
    MemoryStore two;
    const auto keys = write(one, format, samples(30), 2, true, compression);
    EXPECT_EQ(write(two, format, samples(30), 2, true, compression), keys);
    for (const std::string& key : keys)
      EXPECT_TRUE(read_now(one, {.key = key})->bytes.text() ==
                  read_now(two, {.key = key})->bytes.text())
          << key;
  }
}

TEST_P(Formats, CompressedGiveBackTheSame) {
  const Format& format = *GetParam();
  const auto given = samples(25);
  for (const std::string_view compression : format.writer->compressions) {
    SCOPED_TRACE(compression);
    MemoryStore store;
    write(store, format, given, 2, true, std::string(compression));
    const auto set = open_dataset(store, {}, {});
    ASSERT_TRUE(set) << set.error().to_string();
    ASSERT_EQ((*set)->size(), given.size());
    for (std::uint64_t id = 0; id < given.size(); ++id) {
      const auto sample = read(store, **set, SampleId{id});
      ASSERT_TRUE(sample) << sample.error().to_string();
      EXPECT_TRUE(sample->payload.text() == given[id].payload) << id;
    }
  }
}

/// Every object cut at many places: the set is refused with an error, or its samples are the true
/// ones or bad, and none is another.
TEST_P(Formats, ACutAtAnyPlaceGivesNoWrongSample) {
  const Format& format = *GetParam();
  if (format.name == "folder" || format.name == "manifest") return;  // a sample is an object
  const auto given = samples(6);
  MemoryStore whole;
  for (const std::string& key : write(whole, format, given, 1, true)) {
    const std::string content(read_now(whole, {.key = key})->bytes.text());
    for (std::size_t length = 0; length < content.size(); length += 1 + content.size() / 150) {
      SCOPED_TRACE(fmt::format("{} cut to {} of {}", key, length, content.size()));
      MemoryStore store;
      write(store, format, given, 1, true);
      ASSERT_TRUE(put(store, key, as_byte_span(content.substr(0, length)), {}));
      // By name: of an index that is cut to nothing, its content tells no more.
      const auto set = open_dataset(store, {}, {.format = std::string(format.name)});
      if (!set) {
        EXPECT_FALSE(set.error().cause().empty());
        continue;
      }
      for (std::uint64_t id = 0; id < (*set)->size(); ++id) {
        const auto sample = read(store, **set, SampleId{id});
        if (!sample) {
          EXPECT_EQ(sample.error().code(), Code::corrupt) << sample.error().to_string();
        } else {
          ASSERT_LT(id, given.size());
          EXPECT_TRUE(sample->payload.text() == given[id].payload) << id;
        }
      }
    }
  }
}

std::vector<const Format*> written_formats() {
  std::vector<const Format*> all;
  for (const Format& format : formats())
    if (format.writer != nullptr) all.push_back(&format);
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Formats, ::testing::ValuesIn(written_formats()),
                         [](const auto& format) { return std::string(format.param->name); });

}  // namespace
}  // namespace headrace
