// SPDX-License-Identifier: Apache-2.0
// Sets written by mosaicml-streaming, and what it reads from them:
// tests/data/vectors/mds/manifest.json.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "headrace/base/sha256.h"
#include "headrace/records/frames.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/records/mds/mds.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using nlohmann::json;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/mds/";

const json& manifest() {
  static const json parsed = json::parse(as_text(read_file(kVectors + "manifest.json").span()));
  return parsed;
}

void fill(MemoryStore& store, const std::string& set) {
  for (const auto& entry : std::filesystem::directory_iterator(kVectors + set)) {
    const std::string name = entry.path().filename();
    ASSERT_TRUE(put(store, name, read_file(entry.path()).span(), {}));
  }
}

struct Listing {
  std::vector<RecordLine> records;
  RecordsEnd end;
};

/// What `headrace inspect --records` lists.
Listing list(const std::string& set_name) {
  MemoryStore store;
  fill(store, set_name);
  Listing listing;
  const Context context;
  const auto set = open_mds(store, context, {});
  EXPECT_TRUE(set) << set.error().to_string();
  if (!set) return listing;
  auto end = list_records(store, **set, {}, {},
                          [&listing](const RecordLine& line) { listing.records.push_back(line); });
  EXPECT_TRUE(end) << end.error().to_string();
  if (end) listing.end = *end;
  return listing;
}

void expect_record(const json& expected, const RecordLine& record) {
  EXPECT_EQ(record.record, expected["n"]);
  EXPECT_EQ(record.length, expected["bytes"]);
  EXPECT_EQ(record.sha256, expected["sha256"]);
  ASSERT_EQ(record.fields.size(), expected["columns"].size());
  for (const FieldLine& field : record.fields) {
    const json& column = expected["columns"][field.name];
    EXPECT_EQ(field.bytes, column["bytes"]) << field.name;
    ASSERT_EQ(field.hex.has_value(), column.contains("hex")) << field.name;
    if (field.hex) {
      EXPECT_EQ(*field.hex, column["hex"]);
    } else {
      EXPECT_EQ(field.sha256, column["sha256"]);
    }
  }
}

TEST(MdsVectors, SamplesAreWhatStreamingReads) {
  int sets = 0;
  for (const json& entry : manifest()["files"]) {
    if (!entry["expect"].contains("shards")) continue;
    const std::string file = entry["file"];
    const std::string set = file.substr(4, file.find('/', 4) - 4);
    SCOPED_TRACE(set);
    ++sets;
    const Listing found = list(set);
    EXPECT_TRUE(found.end.damage.empty());
    ASSERT_EQ(found.records.size(), entry["expect"]["count"]);
    std::size_t at = 0;
    for (const json& shard : entry["expect"]["shards"]) {
      for (std::size_t i = 0; i < shard["records"].size(); ++i, ++at) {
        expect_record(shard["records"][i], found.records[at]);
        EXPECT_EQ(found.records[at].offset, shard["offsets"][i]);
        EXPECT_TRUE(found.records[at].object.starts_with(shard["basename"].get<std::string>()));
      }
    }
  }
  EXPECT_GE(sets, 15);
}

std::unique_ptr<Dataset> open(MemoryStore& store) {
  auto set = open_mds(store, {}, {});
  EXPECT_TRUE(set) << set.error().to_string();
  return *std::move(set);
}

Result<Sample> read(Store& store, const Dataset& set, std::uint64_t id) {
  const Extent extent = set.locate(SampleId{id});
  const auto got = read_now(frames_of(set, store),
                            {.key = extent.key, .range = extent.range, .pin = extent.pin});
  EXPECT_TRUE(got) << got.error().to_string();
  return set.parse(SampleId{id}, got->bytes);
}

TEST(MdsVectors, PictureAndLabelAreFound) {
  for (const char* name : {"plain", "zstd", "comp_gz6", "jpeg_from_file"}) {
    SCOPED_TRACE(name);
    MemoryStore store;
    fill(store, name);
    const auto set = open(store);
    const Listing listed = list(name);
    for (std::uint64_t id = 0; id < set->size(); ++id) {
      const auto sample = read(store, *set, id);
      ASSERT_TRUE(sample) << sample.error().to_string();
      EXPECT_EQ(sample->labels, listed.records[id].labels);
      EXPECT_EQ(sample->labels.size(), 1U);
      bool is_image = false;
      for (const FieldLine& field : listed.records[id].fields)
        is_image = is_image ||
                   (field.name == "image" && field.sha256 == sha256_hex(sample->payload.span()));
      EXPECT_TRUE(is_image);
    }
  }
}

TEST(MdsVectors, LabelsOfEveryNumberAreRead) {
  const Listing found = list("all_types");  // no column is called label, several are numbers
  EXPECT_TRUE(found.records.at(0).labels.empty());
}

/// What cannot be opened at all, and why.
const std::map<std::string, std::pair<Code, std::string>> kRefused = {
    {"index_cut", {Code::corrupt, "no JSON"}},
    {"index_traversal", {Code::corrupt, "leaves the folder"}},
    {"index_version", {Code::invalid, "version 3"}},
    {"missing_shard", {Code::not_found, "shard.00000.mds"}},
};

TEST(MdsVectors, AnIndexThatIsWrongIsRefusedAndNamed) {
  for (const auto& [name, expected] : kRefused) {
    SCOPED_TRACE(name);
    MemoryStore store;
    fill(store, "damage_" + name);
    const auto set = open_mds(store, {}, {});
    ASSERT_FALSE(set);
    EXPECT_EQ(set.error().code(), expected.first);
    EXPECT_NE(set.error().to_string().find(expected.second), std::string::npos)
        << set.error().to_string();
  }
}

struct Damaged {
  std::vector<std::uint64_t> good;  ///< samples that are read
  std::string why;                  ///< of the first that is not; empty: there is none
};
const std::map<std::string, Damaged> kDamaged = {
    {"base", {{0, 1, 2, 3}, ""}},
    {"bad_count", {{}, "the shard says 5 samples, the index 4"}},
    {"bad_offset", {{0, 3}, "leaves the shard"}},
    {"bad_size", {{0, 2, 3}, "leaves the sample"}},
    {"bitflip", {{0, 1, 2, 3}, ""}},  // only verify reads whole shards
    {"index_count", {{}, "the shard says 4 samples, the index 7"}},
    {"truncated", {{0, 1, 2}, "leaves the shard of 73691 bytes"}},
};

TEST(MdsVectors, DamageMovesNoOtherSample) {
  const Listing base = list("damage_base");
  for (const auto& [name, expected] : kDamaged) {
    SCOPED_TRACE(name);
    const Listing found = list("damage_" + name);
    ASSERT_EQ(found.records.size(), expected.good.size());
    for (std::size_t i = 0; i < expected.good.size(); ++i) {
      EXPECT_EQ(found.records[i].record, expected.good[i]);
      if (name == "bitflip" && expected.good[i] == 2) continue;
      EXPECT_EQ(found.records[i].sha256, base.records.at(expected.good[i]).sha256);
    }
    ASSERT_EQ(found.end.damage.empty(), expected.why.empty());
    if (expected.why.empty()) continue;
    EXPECT_NE(found.end.damage[0].damage.why.find(expected.why), std::string::npos)
        << found.end.damage[0].damage.why;
  }
}

// Every algorithm that streaming has, of a shard that it wrote; and the shard with a flipped bit.
TEST(MdsVectors, HashesOfPlainShardsAreStreamingsOwn) {
  for (const auto& [name, wrong] : {std::pair("hashes", 0U), std::pair("damage_bitflip", 1U)}) {
    MemoryStore store;
    fill(store, name);
    const Context context;
    const auto set = open_mds(store, context, {});
    ASSERT_TRUE(set) << name;
    const auto found = find_wrong_shards(store, **set, *context.notices, {});
    ASSERT_TRUE(found) << name;
    ASSERT_EQ(found->size(), wrong) << name;
    if (wrong == 0) continue;
    EXPECT_EQ(found->front().begin, 0U);
    EXPECT_EQ(found->front().end, 4U);
  }
}

TEST(MdsVectors, EveryDamagedSetOfTheManifestIsTested) {
  for (const json& entry : manifest()["files"]) {
    const std::string file = entry["file"];
    if (!file.starts_with("mds/damage_")) continue;
    const std::string name = file.substr(11, file.find('/', 11) - 11);
    EXPECT_TRUE(kRefused.contains(name) || kDamaged.contains(name)) << name;
  }
}

TEST(MdsVectors, AFlippedBitInACompressedShardIsFound) {
  MemoryStore store;
  fill(store, "zstd");
  const std::string key = "shard.00001.mds.zstd";
  const auto whole = read_now(store, {.key = key});
  std::string bytes(whole->bytes.text());
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(put(store, key, as_byte_span(bytes), {}));
  const auto set = open(store);
  EXPECT_EQ(set->size(), 20U);
  EXPECT_FALSE(set->damage().empty());
  EXPECT_TRUE(read(store, *set, 0));
  EXPECT_TRUE(read(store, *set, 19));
}

}  // namespace
}  // namespace headrace
