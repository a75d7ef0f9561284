// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/writer.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "headrace/records/convert/convert.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::map<std::string, std::string> contents(Store& store) {
  std::map<std::string, std::string> all;
  const auto infos = list_all(store, "", {});
  for (const auto& info : *infos) all[info.key] = read_now(store, {.key = info.key})->bytes.text();
  return all;
}

class FolderWriterTest : public ::testing::Test {
 protected:
  void add(const std::string& key, const std::string& content) {
    ASSERT_TRUE(put(source_, key, as_byte_span(content), {}));
  }
  Result<ConvertReport> write(Store& from, Store& to, const std::string& format,
                              const OpenOptions& open = {}) {
    HEADRACE_TRY(const auto set, open_dataset(from, context_, open));
    return convert(from, *set, to, {.format = format, .key = "x"}, context_);
  }
  bool noticed(const std::string& kind) const {
    for (const Notice& notice : context_.notices->all())
      if (notice.kind == kind) return true;
    return false;
  }

  MemoryStore source_;
  MemoryStore folder_;
  Context context_;
};

TEST_F(FolderWriterTest, AFolderIsCopiedAsItIs) {
  for (int i = 0; i < 2500; ++i)
    add(fmt::format("{}/deep/{:04}.jpg", i % 3, i), fmt::format("{}", i));
  add("a-b/1.jpg", "one");
  add("a/1.jpg", "two");
  add("a/empty", "");
  ASSERT_TRUE(write(source_, folder_, "folder"));
  EXPECT_EQ(contents(folder_), contents(source_));
  EXPECT_FALSE(noticed("order-changed"));
  EXPECT_FALSE(noticed("labels-changed"));
}

TEST_F(FolderWriterTest, RecordsWithoutPathsAreCalledByTheirNumbersInTheirOrder) {
  add("a-b/x", "\xff\xd8\xff one");
  add("a/y", "\x89PNG\r\n\x1a\n two");
  add("c/z", "who knows");
  MemoryStore packed;
  ASSERT_TRUE(write(source_, packed, "recordio"));
  ASSERT_TRUE(write(packed, folder_, "folder"));
  std::vector<std::string> keys;
  for (const auto& [key, content] : contents(folder_)) keys.push_back(key);
  EXPECT_THAT(keys, ElementsAre("a-b/0000000000.jpg", "a/0000000001.png", "c/0000000002.bin"));
  EXPECT_FALSE(noticed("order-changed"));
}

TEST_F(FolderWriterTest, AnOrderThatCannotBeKeptIsSaid) {
  add("imgs/1", "one");
  add("imgs/2", "two");
  add("list.csv", "imgs/1,dog\nimgs/2,cat\n");
  ASSERT_TRUE(write(source_, folder_, "folder", {.list = "list.csv"}));
  EXPECT_TRUE(noticed("order-changed"));
  EXPECT_EQ(contents(folder_).count("cat/imgs/2"), 1U);
}

TEST_F(FolderWriterTest, LabelsThatMoveAreSaid) {
  add("imgs/1", "one");
  add("list.csv", "imgs/1,7\n");
  ASSERT_TRUE(write(source_, folder_, "folder", {.list = "list.csv"}));
  EXPECT_EQ(contents(folder_).count("0007/imgs/1"), 1U);
  EXPECT_TRUE(noticed("labels-changed"));
}

TEST_F(FolderWriterTest, TwoSamplesOfOneNameAreRefused) {
  add("imgs/1", "one");
  add("list.csv", "imgs/1,a\nimgs/1,a\n");
  const auto same = write(source_, folder_, "folder", {.list = "list.csv"});
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().code(), Code::invalid);
}

TEST_F(FolderWriterTest, WhatNoFolderCanHoldIsRefused) {
  add("imgs/1", "one");
  for (const auto* line : {"0\t1\t2\timgs/1\n", "0\t0.5\timgs/1\n", "0\t-1\timgs/1\n"}) {
    add("list.lst", line);
    MemoryStore folder;
    const auto refused = write(source_, folder, "folder", {.list = "list.lst"});
    ASSERT_FALSE(refused) << line;
    EXPECT_EQ(refused.error().code(), Code::invalid);
    EXPECT_THAT(refused.error().to_string(), HasSubstr("label")) << line;
  }
}

TEST_F(FolderWriterTest, AFolderThatHoldsFilesIsNotWrittenInto) {
  add("a/1", "one");
  ASSERT_TRUE(put(folder_, "b/other", as_byte_span("other"), {}));
  const auto refused = write(source_, folder_, "folder");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("not empty"));
  EXPECT_EQ(contents(folder_).size(), 1U);
}

}  // namespace
}  // namespace headrace
