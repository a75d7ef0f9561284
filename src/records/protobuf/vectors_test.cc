// SPDX-License-Identifier: Apache-2.0
// Files written by SageMaker's SDK, and what protobuf read from them: tests/data/vectors/sagemaker.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "headrace/base/sha256.h"
#include "headrace/records/protobuf/protobuf.h"
#include "headrace/records/protobuf/record.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/reader.h"
#include "headrace/records/recordio/recordio.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/ranges.h"

namespace headrace::protobuf {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/";

const json& manifest() {
  static const json parsed =
      json::parse(as_text(read_file(kVectors + "sagemaker/manifest.json").span()));
  return parsed;
}

struct Content {
  std::vector<recordio::Record> records;
  std::vector<Damage> damage;
};

Content read_all(const Bytes& file) {
  Content content;
  const auto source = make_memory_source(file);
  recordio::RecordReader reader(*source);
  while (true) {
    auto record = reader.next();
    if (!record) {
      content.damage.push_back(reader.recover());
      continue;
    }
    if (!*record) break;
    content.records.push_back(**record);
  }
  return content;
}

template <class T>
std::string hex(const std::vector<T>& values) {
  std::string text;
  for (const std::byte byte : std::as_bytes(std::span(values)))
    text += fmt::format("{:02x}", static_cast<unsigned>(byte));
  return text;
}

template <class T>
void expect_tensor(const json& expected, const Value& value) {
  const auto* tensor = std::get_if<Tensor<T>>(&value);
  ASSERT_NE(tensor, nullptr);
  EXPECT_EQ(hex(tensor->values), expected["values_le_hex"]);
  EXPECT_EQ(json(tensor->keys), expected["keys"]);
  EXPECT_EQ(json(tensor->shape), expected["shape"]);
}

void expect_value(const json& expected, const Value& value) {
  const json& kind = expected["kind"];
  if (kind.is_null()) {
    EXPECT_TRUE(std::holds_alternative<std::monostate>(value));
  } else if (kind == "float32_tensor") {
    expect_tensor<float>(expected, value);
  } else if (kind == "float64_tensor") {
    expect_tensor<double>(expected, value);
  } else if (kind == "int32_tensor") {
    expect_tensor<std::int32_t>(expected, value);
  } else {
    const auto* bytes = std::get_if<BytesValue>(&value);
    ASSERT_NE(bytes, nullptr);
    EXPECT_EQ(bytes->content_type, expected["content_type"]);
    ASSERT_EQ(bytes->values.size(), expected["value"].size());
    for (std::size_t i = 0; i < bytes->values.size(); ++i) {
      EXPECT_EQ(bytes->values[i].size(), expected["value"][i]["length"]);
      EXPECT_EQ(sha256_hex(bytes->values[i]), expected["value"][i]["sha256"]);
    }
  }
}

void expect_map(const json& expected, const Map& map) {
  ASSERT_EQ(map.size(), expected.size());
  for (const auto& [key, value] : expected.items()) {
    SCOPED_TRACE(key);
    ASSERT_TRUE(map.contains(key));
    expect_value(value, map.at(key));
  }
}

TEST(SagemakerVectors, EveryRecordIsReadAsProtobufReadsIt) {
  int files = 0;
  int records = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!entry["expect"].contains("records")) continue;
    SCOPED_TRACE(name);
    ++files;
    const Content content = read_all(read_file(kVectors + name));
    EXPECT_TRUE(content.damage.empty());
    const json& expected = entry["expect"]["records"];
    ASSERT_EQ(content.records.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      SCOPED_TRACE(i);
      ++records;
      const Bytes& payload = content.records[i].payload;
      EXPECT_EQ(content.records[i].offset, expected[i].value("offset", content.records[i].offset));
      EXPECT_EQ(payload.size(), expected[i]["length"]);
      EXPECT_EQ(sha256_hex(payload.span()), expected[i]["sha256"]);
      if (!expected[i].contains("features")) continue;
      const auto record = parse_record(payload.span());
      ASSERT_TRUE(record) << record.error().to_string();
      expect_map(expected[i]["features"], record->features);
      expect_map(expected[i]["label"], record->label);
      EXPECT_EQ(record->uid, expected[i].value("uid", ""));
      EXPECT_EQ(record->metadata, expected[i].value("metadata", ""));
      EXPECT_EQ(record->configuration, expected[i].value("configuration", ""));
    }
  }
  EXPECT_EQ(files, 16);
  EXPECT_GE(records, 120);
}

TEST(SagemakerVectors, RecordsAreWrittenAsTheSdkWritesThem) {
  int files = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!entry["expect"].contains("records") || name.find("split") != std::string::npos ||
        name.find("odd") != std::string::npos)
      continue;
    SCOPED_TRACE(name);
    ++files;
    const Bytes file = read_file(kVectors + name);
    std::vector<std::byte> written;
    for (const auto& record : read_all(file).records) {
      std::vector<std::byte> message;
      append_record(*parse_record(record.payload.span()), message);
      ASSERT_TRUE(recordio::append_unsplit(message, written));
    }
    EXPECT_EQ(as_text(ByteSpan(written)), file.text());
  }
  EXPECT_EQ(files, 13);
}

TEST(SagemakerVectors, OddEncodingsAreWrittenInOrderAndReadBackTheSame) {
  for (const auto& record : read_all(read_file(kVectors + "sagemaker/odd_encodings.pbr")).records) {
    std::vector<std::byte> once;
    append_record(*parse_record(record.payload.span()), once);
    std::vector<std::byte> twice;
    append_record(*parse_record(once), twice);
    EXPECT_EQ(once, twice);
  }
}

Result<std::unique_ptr<Dataset>> open_file(Store& store, const std::string& name,
                                           const OpenOptions& options = {}) {
  EXPECT_TRUE(put(store, name, read_file(kVectors + "sagemaker/" + name).span(), {}));
  return open_dataset(store, {}, options);
}

Result<Bytes> frame(Store& store, const Dataset& set, std::uint64_t id) {
  const Extent extent = set.locate(SampleId{id});
  HEADRACE_TRY(auto read, read_now(store, {.key = extent.key, .range = extent.range}));
  return std::move(read.bytes);
}

TEST(Protobuf, EveryFileIsFoundByItsContent) {
  int files = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = entry["file"];
    if (!entry["expect"].contains("records")) continue;
    SCOPED_TRACE(name);
    ++files;
    const Bytes head = read_file(kVectors + name);
    EXPECT_TRUE(is_protobuf(head.span().first(std::min<std::size_t>(head.size(), 512))));
  }
  EXPECT_EQ(files, 16);
  for (const auto* other : {"mxnet/damage_base.rec", "mxnet/bigid.rec",
                            "sagemaker/damage_imagerec.pbr", "tfrecord/train-00000-of-00002"}) {
    const Bytes head = read_file(kVectors + other);
    EXPECT_FALSE(is_protobuf(head.span().first(512))) << other;
  }
}

TEST(Protobuf, APictureIsTheOnlyFeatureOfBytes) {
  MemoryStore store;
  const auto set = open_file(store, "bytes_images.pbr");
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "protobuf");
  ASSERT_EQ((*set)->size(), 5U);
  const auto first = (*set)->parse(SampleId{0}, *frame(store, **set, 0));
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_EQ(first->labels, std::vector<float>{40});
  EXPECT_EQ(sha256_hex(first->payload.span()),
            "076d19df14407340eb5c26835d5c66f986dc2cf42a874889e3e0443a60a188fd");
  EXPECT_TRUE((*set)->parse(SampleId{1}, *frame(store, **set, 1)));
  EXPECT_THAT((*set)->parse(SampleId{3}, *frame(store, **set, 3)).error().cause(),
              HasSubstr("2 byte strings"));
  EXPECT_EQ((*set)->parse(SampleId{4}, *frame(store, **set, 4))->labels,
            (std::vector<float>{35, 3}));
  EXPECT_EQ((*set)->raw(SampleId{1}, *frame(store, **set, 1))->key, "c068_Red_bowl.JPEG");
}

TEST(Protobuf, TensorsAreRecordsAndNoPictures) {
  MemoryStore store;
  const auto set = open_file(store, "sparse_f32.pbr");
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_TRUE((*set)->raw(SampleId{0}, *frame(store, **set, 0)));
  EXPECT_THAT((*set)->parse(SampleId{0}, *frame(store, **set, 0)).error().to_string(),
              HasSubstr("\"values\" (float32_tensor)"));
}

TEST(Protobuf, AMessageThatIsNoneIsDamage) {
  MemoryStore store;
  const auto set = open_file(store, "damage_proto.pbr");
  ASSERT_TRUE(set) << set.error().to_string();
  for (std::uint64_t id = 0; id < 12; ++id)
    EXPECT_EQ((*set)->raw(SampleId{id}, *frame(store, **set, id)).ok(), id != 4) << id;
}

std::vector<std::byte> part(unsigned flag, const std::string& content) {
  std::vector<std::byte> out;
  EXPECT_TRUE(recordio::append_unsplit(as_byte_span(content), out));
  out[7] = static_cast<std::byte>(flag << 5U);
  return out;
}

// A record whose parts dmlc could have written, too: what it means decides.
TEST(RecordioParts, OnlyOneReadingIsARecord) {
  Record record;
  record.uid = "0123456789";
  record.metadata = std::string_view("more than enough");
  std::vector<std::byte> message;
  append_record(record, message);
  const std::string text(as_text(message));
  auto frame = part(1, text.substr(0, 8));
  const auto rest = part(3, text.substr(8));
  frame.insert(frame.end(), rest.begin(), rest.end());
  const Bytes bytes = Bytes::copy_of(ByteSpan(frame));
  EXPECT_EQ(recordio::unframe(bytes)->text(), text);
  EXPECT_EQ(recordio::unframe(bytes, recordio::Parts::sagemaker)->text(), text);
  EXPECT_EQ(recordio::unframe(bytes, recordio::Parts::dmlc)->size(), text.size() + 4);
}

TEST(RecordioParts, TheOptionDecides) {
  for (const auto& [parts, length] :
       {std::pair(recordio::Parts::automatic, 63U), std::pair(recordio::Parts::sagemaker, 63U)}) {
    MemoryStore store;
    const auto set = open_file(store, "split_sagemaker.pbr", {.recordio_parts = parts});
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_EQ((*set)->raw(SampleId{0}, *frame(store, **set, 0))->content.size(), length);
  }
  MemoryStore store;
  const auto set =
      open_file(store, "split_sagemaker.pbr", {.recordio_parts = recordio::Parts::dmlc});
  EXPECT_EQ((*set)->raw(SampleId{0}, *frame(store, **set, 0)).error().code(), Code::corrupt);
}

}  // namespace
}  // namespace headrace::protobuf
