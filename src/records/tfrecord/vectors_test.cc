// SPDX-License-Identifier: Apache-2.0
// Files written by TensorFlow, and what it read from them: tests/data/vectors/tfrecord.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "headrace/base/sha256.h"
#include "headrace/records/inflate.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/records/tfrecord/example.h"
#include "headrace/records/tfrecord/frame.h"
#include "headrace/records/tfrecord/reader.h"

namespace headrace::tfrecord {
namespace {

using nlohmann::json;
using testing::make_piece_source;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/";

const json& manifest() {
  static const json parsed =
      json::parse(as_text(read_file(kVectors + "tfrecord/manifest.json").span()));
  return parsed;
}

struct Content {
  std::vector<Record> records;
  std::vector<Damage> damage;
};

/// All there is; checks that records and damage fill the source from its first byte to its last.
Content read_all(ByteSource& source) {
  Content content;
  RecordReader reader(source);
  std::uint64_t at = 0;
  while (true) {
    auto record = reader.next();
    if (!record) {
      EXPECT_EQ(record.error().code(), Code::corrupt) << record.error().to_string();
      EXPECT_EQ(reader.next().error().to_string(), record.error().to_string());
      content.damage.push_back(reader.recover());
      EXPECT_EQ(content.damage.back().begin, at);
      EXPECT_GT(content.damage.back().end, at);
      at = content.damage.back().end;
      continue;
    }
    if (!*record) break;
    EXPECT_EQ((*record)->offset, at);
    at += (*record)->frame_bytes;
    content.records.push_back(**record);
  }
  return content;
}

Content read_all(const Bytes& file) {
  const auto source = make_memory_source(file);
  return read_all(*source);
}

void expect_feature(const json& expected, const Feature& feature) {
  if (expected.contains("kind")) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(feature));
  } else if (expected.contains("int64")) {
    const auto* list = std::get_if<Int64List>(&feature);
    ASSERT_NE(list, nullptr);
    std::vector<std::string> texts;
    for (const auto value : *list) texts.push_back(std::to_string(value));
    EXPECT_EQ(json(texts), expected["int64"]);
  } else if (expected.contains("float_bits")) {
    const auto* list = std::get_if<FloatList>(&feature);
    ASSERT_NE(list, nullptr);
    std::vector<std::string> texts;
    for (const float value : *list)
      texts.push_back(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(value)));
    EXPECT_EQ(json(texts), expected["float_bits"]);
  } else {
    const auto* list = std::get_if<BytesList>(&feature);
    ASSERT_NE(list, nullptr);
    ASSERT_EQ(list->size(), expected["bytes"].size());
    for (std::size_t i = 0; i < list->size(); ++i) {
      const json& one = expected["bytes"][i];
      if (one.is_string()) {
        EXPECT_EQ(as_text((*list)[i]), one);
      } else {
        EXPECT_EQ((*list)[i].size(), one["length"]);
        EXPECT_EQ(sha256_hex((*list)[i]), one["sha256"]);
      }
    }
  }
}

void expect_example(const json& expected, const Bytes& record) {
  const auto example = parse_example(record.span());
  ASSERT_TRUE(example) << example.error().to_string();
  ASSERT_EQ(example->size(), expected.size());
  for (const auto& [key, feature] : expected.items()) {
    SCOPED_TRACE(key);
    ASSERT_TRUE(example->contains(key));
    expect_feature(feature, example->at(key));
  }
}

TEST(TensorflowVectors, EveryRecordIsReadAsTensorflowReadsIt) {
  int files = 0;
  int records = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!entry["expect"].contains("records")) continue;
    SCOPED_TRACE(name);
    ++files;
    const Bytes file = read_file(kVectors + name);
    const auto plain = make_memory_source(file);
    const json& compression = entry["expect"]["compression"];
    InflateSource inflated(*plain, compression == "ZLIB" ? Compression::zlib : Compression::gzip);
    const Content content = compression.is_null() ? read_all(file) : read_all(inflated);
    EXPECT_TRUE(content.damage.empty());
    const json& expected = entry["expect"]["records"];
    ASSERT_EQ(content.records.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      ++records;
      const Record& record = content.records[i];
      EXPECT_EQ(record.offset, expected[i]["offset"]);
      EXPECT_EQ(record.data.size(), expected[i]["length"]);
      EXPECT_EQ(sha256_hex(record.data.span()), expected[i]["sha256"]);
      if (expected[i].contains("example")) expect_example(expected[i]["example"], record.data);
      if (expected[i].contains("protobuf")) {
        EXPECT_EQ(parse_example(record.data.span()).error().code(), Code::corrupt);
      }
    }
  }
  EXPECT_EQ(files, 11);
  EXPECT_EQ(records, 86);
}

TEST(TensorflowVectors, FramesAreWrittenAsTensorflowWritesThem) {
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!entry["expect"].contains("records") || !entry["expect"]["compression"].is_null()) continue;
    SCOPED_TRACE(name);
    const Bytes file = read_file(kVectors + name);
    std::vector<std::byte> written;
    for (const Record& record : read_all(file).records)
      ASSERT_TRUE(append_frame(record.data.span(), written));
    EXPECT_EQ(as_text(ByteSpan(written)), file.text());
  }
}

// records that can be read, and stretches that cannot
const std::map<std::string, std::pair<std::size_t, std::size_t>> kDamaged = {
    {"damage_data_bit", {5, 1}},           {"damage_data_crc_bit", {5, 1}},
    {"damage_header_zeroed", {5, 1}},      {"damage_length_bit", {5, 1}},
    {"damage_length_crc_bit", {5, 1}},     {"damage_length_high_bit", {5, 1}},
    {"damage_trailing_byte", {6, 1}},      {"damage_trailing_zero", {6, 1}},
    {"damage_trunc_after_header", {4, 1}}, {"damage_trunc_at_boundary", {4, 0}},
    {"damage_trunc_in_data", {4, 1}},      {"damage_trunc_in_data_crc", {4, 1}},
    {"damage_trunc_in_header", {4, 1}},    {"damage_trunc_in_length_crc", {4, 1}},
    {"damage_unmasked_crc", {0, 1}},
};

Bytes damaged_file(const std::string& name) {
  return read_file(fmt::format("{}tfrecord/{}.tfrecord", kVectors, name));
}

TEST(TensorflowVectors, DamageIsNamedAndReadingGoesOn) {
  const Content intact = read_all(damaged_file("damage_base"));
  std::size_t files = 0;
  for (const json& entry : manifest()["files"]) {
    const json& expect = entry["expect"];
    if (!expect.contains("good_records_before_damage")) continue;
    const std::string path = entry["file"];
    const auto name = path.substr(9, path.size() - 9 - 9);  // tfrecord/….tfrecord
    SCOPED_TRACE(name);
    ASSERT_TRUE(kDamaged.contains(name));
    ++files;
    const Content content = read_all(damaged_file(name));
    EXPECT_EQ(content.records.size(), kDamaged.at(name).first);
    EXPECT_EQ(content.damage.size(), kDamaged.at(name).second);
    const std::size_t before = expect["good_records_before_damage"];
    ASSERT_GE(content.records.size(), before);
    for (std::size_t i = 0; i < before; ++i)
      EXPECT_EQ(content.records[i].data.text(), intact.records[i].data.text());
    if (content.records.size() != 5) continue;
    // What follows the damage is read, where TensorFlow gives up.
    for (std::size_t i = before; i < 5; ++i) {
      EXPECT_EQ(content.records[i].offset, intact.records[i + 1].offset);
      EXPECT_EQ(content.records[i].data.text(), intact.records[i + 1].data.text());
    }
  }
  EXPECT_EQ(files, kDamaged.size());
}

TEST(TensorflowVectors, ATailThatTensorflowTakesForTheEndIsDamage) {
  for (const auto* name : {"damage_trunc_in_header", "damage_trunc_in_length_crc"}) {
    const Content content = read_all(damaged_file(name));
    ASSERT_EQ(content.damage.size(), 1U);
    EXPECT_EQ(content.damage[0].begin, 85269U);
    EXPECT_THAT(content.damage[0].why, ::testing::HasSubstr("bytes into a record's head"));
  }
}

TEST(TensorflowVectors, PiecesDoNotMatter) {
  for (const auto& [name, expected] : kDamaged) {
    SCOPED_TRACE(name);
    const Bytes file = damaged_file(name);
    const Content whole = read_all(file);
    for (const std::size_t piece : {61U, 4096U, 50000U}) {
      for (const bool sized : {false, true}) {
        const auto source = make_piece_source(file, piece, sized);
        const Content content = read_all(*source);
        EXPECT_EQ(content.damage, whole.damage);
        ASSERT_EQ(content.records.size(), whole.records.size());
        for (std::size_t i = 0; i < whole.records.size(); ++i)
          EXPECT_EQ(content.records[i].data.text(), whole.records[i].data.text());
      }
    }
  }
}

TEST(TensorflowVectors, MembersBackToBackAreOneStream) {
  const auto file = make_memory_source(read_file(kVectors + "tfrecord/gzip_two_members.tfrecord"));
  InflateSource stream(*file, Compression::gzip);
  const Content content = read_all(stream);
  std::vector<std::size_t> lengths;
  for (const Record& record : content.records) lengths.push_back(record.data.size());
  EXPECT_THAT(lengths, ::testing::ElementsAre(0, 37, 74, 111, 148, 185));
  EXPECT_TRUE(content.damage.empty());
  EXPECT_EQ(stream.failure(), "");
}

TEST(TensorflowVectors, AStreamThatIsCutOffGivesWhatCameBefore) {
  const auto file = make_memory_source(read_file(kVectors + "tfrecord/gzip_truncated.tfrecord"));
  InflateSource stream(*file, Compression::gzip);
  const Content content = read_all(stream);
  ASSERT_EQ(content.records.size(), 2U);
  ASSERT_EQ(content.damage.size(), 1U);
  EXPECT_EQ(content.damage[0].begin, 95471U);
  EXPECT_EQ(stream.failure(), "the GZIP stream is cut off at 100353 of the file");
}

}  // namespace
}  // namespace headrace::tfrecord
