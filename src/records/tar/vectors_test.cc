// SPDX-License-Identifier: Apache-2.0
// Files written by webdataset, Python's tarfile and GNU tar, and what webdataset reads from them:
// tests/data/vectors/webdataset/manifest.json.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "headrace/base/sha256.h"
#include "headrace/records/inspect/inspect.h"
#include "headrace/records/tar/sample.h"
#include "headrace/records/tar/tar.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using nlohmann::json;
using testing::read_file;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/";

const json& manifest() {
  static const json parsed =
      json::parse(as_text(read_file(kVectors + "webdataset/manifest.json").span()));
  return parsed;
}

std::string base_of(const json& entry) {
  return entry["file"].get<std::string>().substr(std::string("webdataset/").size());
}

struct Listing {
  std::vector<RecordLine> records;
  RecordsEnd end;
};

/// What `headrace inspect --records` lists.
Listing list(const std::string& name) {
  MemoryStore store;
  EXPECT_TRUE(put(store, name, read_file(kVectors + "webdataset/" + name).span(), {}));
  Listing listing;
  const Context context;
  const auto set = open_tar(store, context, {});
  EXPECT_TRUE(set) << set.error().to_string();
  if (!set) return listing;
  auto end = list_records(store, **set, {}, {},
                          [&listing](const RecordLine& line) { listing.records.push_back(line); });
  EXPECT_TRUE(end) << end.error().to_string();
  if (end) listing.end = *end;
  return listing;
}

void expect_sample(const json& expected, const RecordLine& record) {
  EXPECT_EQ(record.key, expected["__key__"].get<std::string>());
  ASSERT_EQ(record.fields.size(), expected["fields"].size());
  for (const FieldLine& field : record.fields) {
    ASSERT_TRUE(expected["fields"].contains(field.name)) << field.name;
    EXPECT_EQ(field.bytes, expected["fields"][field.name]["bytes"]);
    EXPECT_EQ(field.sha256, expected["fields"][field.name]["sha256"]);
  }
}

bool is_compressed(const std::string& name) {
  return name.starts_with("comp.") || name == "gzip_named.tar" || name == "damage_gz_truncated.tar";
}

// macOS leaves files that cut a sample in two and become samples of their own; we leave them out.
const std::map<std::string, std::string> kReadBetter = {
    {"macos.tar", "what macOS leaves is left out"}};

TEST(WebdatasetVectors, SamplesAreWhatWebdatasetReads) {
  int files = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = base_of(entry);
    if (name.starts_with("damage_") || kReadBetter.contains(name) || is_compressed(name)) continue;
    if (name == "dup_field.tar") continue;  // below
    SCOPED_TRACE(name);
    ++files;
    const Listing found = list(name);
    EXPECT_TRUE(found.end.damage.empty());
    const json& expected = entry["expect"]["samples"];
    ASSERT_EQ(found.records.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expect_sample(expected[i], found.records[i]);
    if (!entry["expect"].contains("labels")) continue;
    for (const RecordLine& record : found.records)
      EXPECT_EQ(record.labels, std::vector<float>{entry["expect"]["labels"][*record.key]});
  }
  EXPECT_GE(files, 28);
}

TEST(WebdatasetVectors, CompressedTarsAreReadAsStreams) {
  int files = 0;
  for (const json& entry : manifest()["files"]) {
    const std::string name = base_of(entry);
    if (!is_compressed(name)) continue;
    SCOPED_TRACE(name);
    ++files;
    const Listing found = list(name);
    const json& expected = entry["expect"]["samples"];
    const bool cut = name == "damage_gz_truncated.tar";
    ASSERT_GE(found.records.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) expect_sample(expected[i], found.records[i]);
    ASSERT_EQ(found.end.damage.empty(), !cut);
    if (cut) {
      EXPECT_EQ(found.end.damage.back().damage.why, "the gzip stream ends too early");
    }
  }
  EXPECT_GE(files, 6);
}

TEST(WebdatasetVectors, ClsIsReadAsPythonReadsIt) {
  for (const json& entry : manifest()["files"]) {
    if (base_of(entry) != "cls_text.tar") continue;
    const auto& texts = entry["expect"]["cls_hex"];
    const auto& decoded = entry["expect"]["webdataset_decodes_to"];
    const Listing found = list("cls_text.tar");
    ASSERT_EQ(found.records.size(), texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) {
      SCOPED_TRACE(texts[i]);
      const std::string wanted = decoded[i];
      if (wanted.starts_with("error")) {
        EXPECT_TRUE(found.records[i].labels.empty());
      } else {
        EXPECT_EQ(found.records[i].labels, std::vector<float>{std::stof(wanted)});
      }
    }
    return;
  }
  FAIL() << "cls_text.tar is not in the manifest";
}

TEST(WebdatasetVectors, WhatMacosLeavesCutsNoSample) {
  std::vector<std::string> keys;
  for (const RecordLine& record : list("macos.tar").records) {
    keys.push_back(*record.key);
    EXPECT_EQ(record.fields.size(), 2U);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"0", "1", "2", "sub/7"}));
}

TEST(WebdatasetVectors, AFieldThatIsThereTwiceIsDamage) {
  const Listing found = list("dup_field.tar");
  ASSERT_EQ(found.records.size(), 2U);
  EXPECT_EQ(found.records[1].key, "3");
  ASSERT_EQ(found.end.damage.size(), 1U);
  EXPECT_EQ(found.end.damage[0].damage.why, "sample \"2\" has two fields \"jpg\"");
}

/// Samples of damage_base.tar (0 to 4) that are whole, and what is damaged. A letter after a
/// number: the sample has only its cls (c) or its jpg (j).
struct Damaged {
  std::vector<std::string> samples;
  std::vector<std::string> why;
};
const std::map<std::string, Damaged> kDamaged = {
    {"bad_checksum", {{"0", "1", "2j", "3", "4"}, {"checksum"}}},
    {"bad_checksum_first", {{"0j", "1", "2", "3", "4"}, {"checksum"}}},
    {"base", {{"0", "1", "2", "3", "4"}, {}}},
    {"concatenated", {{"0", "1", "2", "3", "4", "x", "x", "x", "x", "x", "x"}, {}}},
    {"empty_file", {{}, {"no end of the archive"}}},  // an upload that failed loses a whole shard
    {"garbage_after_end", {{"0", "1", "2", "3", "4"}, {"checksum"}}},
    {"no_end_blocks", {{"0", "1", "2", "3", "4"}, {"no end of the archive"}}},
    {"not_a_tar", {{}, {"checksum"}}},
    {"one_end_block", {{"0", "1", "2", "3", "4"}, {}}},
    {"short_file", {{}, {"100 bytes after the last entry"}}},
    {"size_negative", {{"0", "1", "2c", "3", "4"}, {"negative"}}},
    {"size_not_octal", {{"0", "1", "2c", "3", "4"}, {"octal"}}},
    {"size_too_large", {{"0", "1", "2c", "3", "4"}, {"leaves the file"}}},
    {"trunc_at_sample", {{"0", "1", "2"}, {"no end of the archive"}}},
    {"trunc_between_members", {{"0", "1", "2", "3c"}, {"no end of the archive"}}},
    {"trunc_in_data", {{"0", "1", "2", "3c"}, {"leaves the file"}}},
    {"trunc_in_header", {{"0", "1", "2"}, {"200 bytes after the last entry"}}},
    {"trunc_in_padding", {{"0", "1", "2", "3"}, {"no end of the archive"}}},
    {"two_zero_blocks_inside", {{"0", "1", "2", "3", "4"}, {}}},
    {"zero_block_inside", {{"0", "1", "2", "3", "4"}, {"zeros where a header should be"}}},
};

TEST(WebdatasetVectors, DamageIsNamedAndReadingGoesOn) {
  const Listing base = list("damage_base.tar");
  for (const auto& [name, expected] : kDamaged) {
    SCOPED_TRACE(name);
    const Listing found = list(fmt::format("damage_{}.tar", name));
    ASSERT_EQ(found.records.size(), expected.samples.size());
    for (std::size_t i = 0; i < expected.samples.size(); ++i) {
      const std::string& sample = expected.samples[i];
      if (sample == "x") continue;  // of the other tar
      const RecordLine& intact = base.records.at(static_cast<std::size_t>(sample[0] - '0'));
      const RecordLine& record = found.records[i];
      EXPECT_EQ(record.key, intact.key);
      ASSERT_EQ(record.fields.size(), 3 - sample.size());
      for (const FieldLine& field : record.fields) {
        EXPECT_TRUE(sample.size() == 1 || field.name[0] == sample[1]);
        const FieldLine& same = intact.fields.at(field.name == "cls" ? 0 : 1);
        EXPECT_EQ(field.sha256, same.sha256);
      }
    }
    ASSERT_EQ(found.end.damage.size(), expected.why.size());
    for (std::size_t i = 0; i < expected.why.size(); ++i) {
      EXPECT_NE(found.end.damage[i].damage.why.find(expected.why[i]), std::string::npos)
          << found.end.damage[i].damage.why;
    }
  }
}

TEST(WebdatasetVectors, EveryDamagedFileOfTheManifestIsTested) {
  for (const json& entry : manifest()["files"]) {
    const std::string name = base_of(entry);
    if (!name.starts_with("damage_") || is_compressed(name)) continue;
    if (name == "damage_only_zeros.tar" || name == "damage_path_traversal.tar") continue;
    EXPECT_TRUE(kDamaged.contains(name.substr(7, name.size() - 11))) << name;
  }
}

TEST(WebdatasetVectors, AnArchiveWithoutEntriesIsNotFound) {
  MemoryStore store;
  const std::string name = "damage_only_zeros.tar";
  ASSERT_TRUE(put(store, name, read_file(kVectors + "webdataset/" + name).span(), {}));
  const auto set = open_tar(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
}

TEST(WebdatasetVectors, NamesThatLeaveTheFolderAreKeysAndNothingElse) {
  const Listing found = list("damage_path_traversal.tar");
  ASSERT_EQ(found.records.size(), 4U);
  EXPECT_EQ(found.records[0].key, "../../etc/x");
  EXPECT_TRUE(found.end.damage.empty());
}

}  // namespace
}  // namespace headrace
