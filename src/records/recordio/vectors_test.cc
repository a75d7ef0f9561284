// SPDX-License-Identifier: Apache-2.0
// Files written by MXNet, and what it read from them: tests/data/vectors/mxnet/manifest.json.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "headrace/base/sha256.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/reader.h"
#include "headrace/records/testing/test_data.h"

namespace headrace::recordio {
namespace {

using nlohmann::json;
using testing::make_piece_source;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/";

const json& manifest() {
  static const json parsed =
      json::parse(as_text(read_file(kVectors + "mxnet/manifest.json").span()));
  return parsed;
}

struct Content {
  std::vector<Record> records;
  std::vector<Damage> damage;
};

/// All there is; checks that records and damage fill the source from its first byte to its last.
Content read_all(ByteSource& source, std::uint64_t size, Parts parts = Parts::automatic) {
  Content content;
  RecordReader reader(source, parts);
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
  EXPECT_EQ(at, size);
  return content;
}

Content read_all(const Bytes& file, Parts parts = Parts::automatic) {
  const auto source = make_memory_source(file);
  return read_all(*source, file.size(), parts);
}

void expect_image(const json& expected, const Bytes& record) {
  const auto image = parse_image_record(record);
  ASSERT_TRUE(image) << image.error().to_string();
  EXPECT_EQ(image->flag, expected["flag"]);
  EXPECT_EQ(std::to_string(image->id), expected["id"]);
  EXPECT_EQ(std::to_string(image->id2), expected["id2"]);
  EXPECT_EQ(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(image->header_label)),
            expected["header_label_bits"]);
  ASSERT_EQ(image->labels.size(), expected["labels"].size());
  for (std::size_t i = 0; i < image->labels.size(); ++i) {
    const std::string text = expected["labels"][i];
    const float wanted = std::strtof(text.c_str(), nullptr);
    EXPECT_TRUE(image->labels[i] == wanted || (std::isnan(image->labels[i]) && std::isnan(wanted)))
        << text;
  }
  if (!expected.contains("image_sha256")) return;
  EXPECT_EQ(image->image.size(), expected["image_bytes"]);
  EXPECT_EQ(sha256_hex(image->image.span()), expected["image_sha256"]);
}

TEST(MxnetVectors, EveryRecordIsReadAsMxnetReadsIt) {
  int files = 0;
  int records = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!name.ends_with(".rec") || !entry["expect"].contains("records")) continue;
    SCOPED_TRACE(name);
    ++files;
    const Bytes file = read_file(kVectors + name);
    const Content content = read_all(file);
    const Content joined = read_all(file, Parts::sagemaker);
    EXPECT_TRUE(content.damage.empty());
    const json& expected = entry["expect"]["records"];
    ASSERT_EQ(content.records.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      ++records;
      const Record& record = content.records[i];
      EXPECT_EQ(record.offset, expected[i].value("offset", record.offset));
      EXPECT_EQ(record.payload.size(), expected[i]["length"]);
      EXPECT_EQ(sha256_hex(record.payload.span()), expected[i]["sha256"]);
      if (expected[i].contains("flag")) expect_image(expected[i], record.payload);
      if (expected[i].contains("no_reinsert")) {
        EXPECT_EQ(sha256_hex(joined.records.at(i).payload.span()),
                  expected[i]["no_reinsert"]["sha256"]);
      }
    }
  }
  EXPECT_GE(files, 12);
  EXPECT_GE(records, 90);
}

TEST(MxnetVectors, FramesAreWrittenAsMxnetWritesThem) {
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!name.ends_with(".rec") || !entry["expect"].contains("records")) continue;
    SCOPED_TRACE(name);
    const Bytes file = read_file(kVectors + name);
    std::vector<std::byte> written;
    for (const Record& record : read_all(file).records) {
      const auto header = std::min<std::size_t>(record.payload.size() / 4 * 4, 24);
      ASSERT_TRUE(append_frame(record.payload.span().first(header),
                               record.payload.span().subspan(header), written));
    }
    EXPECT_EQ(as_text(ByteSpan(written)), file.text());
  }
}

// records that can be read, and stretches that cannot
const std::map<std::string, std::pair<std::size_t, std::size_t>> kDamaged = {
    {"bad_cflag_7", {5, 1}},
    {"bad_cflag_begin_without_end", {5, 1}},
    {"bad_cflag_starts_with_end", {5, 1}},
    {"bad_cflag_starts_with_middle", {5, 1}},
    {"bad_length_large", {5, 1}},
    {"bad_length_small", {6, 1}},  // record 3 loses its last 400 bytes
    {"bad_magic", {5, 1}},
    {"garbage_between", {6, 1}},
    {"payload_bit_flip", {6, 0}},  // no checksum can tell
    {"trailing_garbage", {6, 1}},
    {"trunc_after_frame_header", {4, 1}},
    {"trunc_after_magic", {4, 1}},
    {"trunc_at_boundary", {4, 0}},
    {"trunc_in_image_header", {4, 1}},
    {"trunc_in_magic", {4, 1}},
    {"trunc_in_payload", {4, 1}},
    {"trunc_pad", {6, 0}},
};

std::string damaged_file(const std::string& name) {
  return fmt::format("{}mxnet/damage_{}.rec", kVectors, name);
}

TEST(MxnetVectors, DamageIsNamedAndReadingGoesOn) {
  const Content intact = read_all(read_file(damaged_file("base")));
  for (const auto& [name, expected] : kDamaged) {
    SCOPED_TRACE(name);
    const Content content = read_all(read_file(damaged_file(name)));
    EXPECT_EQ(content.records.size(), expected.first);
    EXPECT_EQ(content.damage.size(), expected.second);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ(content.records.at(i).payload.text(), intact.records.at(i).payload.text());
    if (name.starts_with("trunc")) continue;
    for (std::size_t from_end = 1; from_end <= 2; ++from_end) {
      EXPECT_EQ(content.records.at(content.records.size() - from_end).payload.text(),
                intact.records.at(6 - from_end).payload.text());
    }
  }
}

TEST(MxnetVectors, EveryDamagedFileOfTheManifestIsTested) {
  std::size_t files = 0;
  for (const json& entry : manifest()["files"]) {
    const json& expect = entry["expect"];
    if (!expect.contains("records_before_damage")) continue;
    const std::string name = entry["file"];
    const auto key = name.substr(13, name.size() - 13 - 4);  // mxnet/damage_….rec
    ASSERT_TRUE(kDamaged.contains(key)) << key;
    ++files;
    const Content content = read_all(read_file(kVectors + name));
    std::size_t before = 0;
    for (const Record& record : content.records)
      before += content.damage.empty() || record.offset < content.damage[0].begin ? 1U : 0U;
    EXPECT_GE(before, expect["records_before_damage"]) << key;
  }
  EXPECT_EQ(files, kDamaged.size());
}

TEST(MxnetVectors, MissingPaddingIsReadAndMarked) {
  const Content content = read_all(read_file(damaged_file("trunc_pad")));
  EXPECT_TRUE(content.records.back().unpadded);
  EXPECT_FALSE(content.records.front().unpadded);
}

// The same records and the same damage, however the bytes arrive, and whether or not the source
// knows its size: a FIFO does not.
TEST(MxnetVectors, PiecesDoNotMatter) {
  for (const auto& [name, expected] : kDamaged) {
    SCOPED_TRACE(name);
    const Bytes file = read_file(damaged_file(name));
    const Content whole = read_all(file);
    for (const std::size_t piece : {61U, 4096U, 50000U}) {
      for (const bool sized : {false, true}) {
        const auto source = make_piece_source(file, piece, sized);
        const Content content = read_all(*source, file.size());
        EXPECT_EQ(content.damage, whole.damage);
        ASSERT_EQ(content.records.size(), whole.records.size());
        for (std::size_t i = 0; i < whole.records.size(); ++i)
          EXPECT_EQ(content.records[i].payload.text(), whole.records[i].payload.text());
      }
    }
  }
}

Bytes from_hex(const std::string& hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return Bytes::copy_of(text);
}

TEST(MxnetVectors, ImageHeadersAreReadAndWrittenAsMxnetDoes) {
  const auto cases =
      json::parse(as_text(read_file(kVectors + "irheader/irheader.json").span()))["cases"];
  int read = 0;
  for (const json& one : cases) {
    SCOPED_TRACE(one["what"]);
    if (!one.contains("packed_hex")) continue;
    const Bytes packed = from_hex(one["packed_hex"]);
    const auto image = parse_image_record(packed);
    if (one.contains("unpack_error")) {
      ASSERT_FALSE(image);
      EXPECT_EQ(image.error().code(), Code::corrupt);
      continue;
    }
    ASSERT_TRUE(image) << image.error().to_string();
    ++read;
    const json& expected = one["unpacked"];
    EXPECT_EQ(image->flag, expected["flag"]);
    EXPECT_EQ(std::to_string(image->id), expected["id"]);
    EXPECT_EQ(std::to_string(image->id2), expected["id2"]);
    ASSERT_EQ(image->labels.size(), expected["labels_bits"].size());
    for (std::size_t i = 0; i < image->labels.size(); ++i) {
      EXPECT_EQ(fmt::format("{:08x}", std::bit_cast<std::uint32_t>(image->labels[i])),
                expected["labels_bits"][i]);
    }
    EXPECT_EQ(image->image.text(), from_hex(expected["payload_hex"]).text());
    if (!one.contains("in")) continue;  // im2rec.cc writes the first label twice; we do not
    auto bytes = image_header(image->labels, image->id, image->id2, image->flag == 1);
    bytes.insert(bytes.end(), image->image.data(), image->image.data() + image->image.size());
    EXPECT_EQ(as_text(ByteSpan(bytes)), packed.text());
  }
  EXPECT_GE(read, 20);
}

}  // namespace
}  // namespace headrace::recordio
