// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/side_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>

#include "headrace/storage/local/dir_side_store.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/side_key.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

SideKey some_key() {
  return {.store = "s3://b/p",
          .object = "x.rec",
          .pin = {.etag = "\"1\"", .size = 7},
          .kind = "rec-index",
          .version = 1};
}

class SideStores : public ::testing::TestWithParam<std::string> {
 protected:
  testing::TemporaryFolder folder_;
  std::unique_ptr<SideStore> store_ = GetParam() == "memory"
                                          ? std::unique_ptr<SideStore>(new MemorySideStore)
                                          : make_dir_side_store(folder_.string() + "/side");

  std::string get(const SideKey& key) {
    const auto found = store_->get(key);
    EXPECT_TRUE(found.ok()) << found.error().to_string();
    if (!found.ok()) return "error";
    return found->has_value() ? std::string((*found)->text()) : "nothing";
  }
};
INSTANTIATE_TEST_SUITE_P(All, SideStores, ::testing::Values("memory", "dir"),
                         [](const auto& param) { return param.param; });

TEST_P(SideStores, WhatWasPutIsThere) {
  EXPECT_EQ(get(some_key()), "nothing");
  const std::string text = testing::pattern(1, 100'000);
  ASSERT_TRUE(store_->put(some_key(), as_byte_span(text)).ok());
  EXPECT_EQ(get(some_key()), text);
  ASSERT_TRUE(store_->put(some_key(), as_byte_span("new")).ok());
  EXPECT_EQ(get(some_key()), "new");
  ASSERT_TRUE(store_->put(some_key(), {}).ok());
  EXPECT_EQ(get(some_key()), "");
}

TEST_P(SideStores, EveryPartOfTheKeyCounts) {
  ASSERT_TRUE(store_->put(some_key(), as_byte_span("x")).ok());
  std::vector<SideKey> others(8, some_key());
  others[0].store += "2";
  others[1].object += "2";
  others[2].pin.etag = "\"2\"";
  others[3].pin.version = "v";
  others[4].pin.size = 8;
  others[5].kind = "snapshot";
  others[6].version = 2;
  others[7].offset = 9;
  for (const auto& other : others) EXPECT_EQ(get(other), "nothing");
  EXPECT_EQ(get(some_key()), "x");
}

TEST(DirSideStore, AnyDamageCountsAsAbsent) {
  const testing::TemporaryFolder folder;
  const auto store = make_dir_side_store(folder.string());
  ASSERT_TRUE(store->put(some_key(), as_byte_span("0123456789")).ok());
  const auto entry = *fs::directory_iterator(folder.path());
  const auto size = fs::file_size(entry);
  for (std::uintmax_t at = 0; at < size; ++at) {
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ 4)).flush();
    EXPECT_FALSE(store->get(some_key())->has_value()) << "byte " << at;
    file.seekp(static_cast<std::streamoff>(at));
    file.put(old);
  }
  EXPECT_TRUE(store->get(some_key())->has_value());
  for (auto shorter = size; shorter-- > 0;) {
    fs::resize_file(entry.path(), shorter);
    EXPECT_FALSE(store->get(some_key())->has_value()) << "length " << shorter;
  }
}

TEST(SideKey, PartsDoNotRunIntoEachOther) {
  EXPECT_NE(side_key_bytes({.store = "ab", .object = "c"}),
            side_key_bytes({.store = "a", .object = "bc"}));
}

}  // namespace
}  // namespace headrace
