// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/open_store.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

class OpenStore : public ::testing::Test {
 protected:
  OpenStore() {
    std::ofstream(folder_.path() / "x.rec") << "records";
    std::ofstream(folder_.path() / "x.idx") << "index";
  }
  Result<std::unique_ptr<Store>> open(const std::string& text, const StoreOptions& options = {}) {
    HEADRACE_TRY(const Uri uri, parse_uri(text));
    return open_store(uri, context_, options);
  }
  testing::TemporaryFolder folder_;
  Context context_;
};

TEST_F(OpenStore, AFolderIsTheRoot) {
  const auto store = open(folder_.string());
  ASSERT_TRUE(store.ok()) << store.error().to_string();
  const auto listed = list_all(**store, "", {});
  ASSERT_TRUE(listed.ok());
  EXPECT_EQ(listed->size(), 2U);
}

TEST_F(OpenStore, AFileIsListedAloneAndItsNeighboursAreReached) {
  const auto store = open(folder_.string() + "/x.rec");
  ASSERT_TRUE(store.ok()) << store.error().to_string();
  const auto listed = list_all(**store, "", {});
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().key, "x.rec");
  EXPECT_TRUE((*store)->head("x.idx", {}).ok());
  EXPECT_TRUE(list_all(**store, "y", {})->empty());
}

TEST_F(OpenStore, AMissingPathIsNotFoundUnlessItIsToBeWritten) {
  const std::string missing = folder_.string() + "/missing";
  ASSERT_FALSE(open(missing).ok());
  EXPECT_EQ(open(missing).error().code(), Code::not_found);
  EXPECT_EQ(open(missing).error().place(), missing);
  EXPECT_TRUE(open(missing, {.root = StoreOptions::Root::folder}).ok());
}

TEST_F(OpenStore, ASchemeWithoutAStoreIsInvalid) {
  for (const std::string text : {"memory://here/x", "memory://x/"}) {
    const auto store = open(text);
    ASSERT_FALSE(store.ok());
    EXPECT_EQ(store.error().code(), Code::invalid) << text;
  }
}

TEST(SplitObject, GivesFolderAndName) {
  const auto split = [](const std::string& text) {
    const auto parts = split_object(*parse_uri(text));
    if (!parts.ok()) return std::string("error");
    return parts->first.to_string() + " | " + parts->second;
  };
  EXPECT_EQ(split("s3://b/dir/x.rec"), "s3://b/dir/ | x.rec");
  EXPECT_EQ(split("s3://b/x.rec"), "s3://b/ | x.rec");
  EXPECT_EQ(split("/data/x.rec"), "/data/ | x.rec");
  EXPECT_EQ(split("x.rec"), ". | x.rec");
  EXPECT_EQ(split("s3://b/dir/"), "error");
  EXPECT_EQ(split("s3://b"), "error");
}

}  // namespace
}  // namespace headrace
