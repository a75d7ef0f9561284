// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/survey.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::keep {
namespace {

class SurveyTest : public ::testing::Test {
 protected:
  /// Keeps `count` objects of `name`, each of 1000 bytes.
  std::unique_ptr<KeepStore> keep(MemoryStore& origin, int count) {
    auto made = make_keep_store(origin, {.dir = dir_, .limit_bytes = 1 << 30}, Context());
    EXPECT_TRUE(made);
    for (int i = 0; i < count; ++i) {
      const auto key = "k" + std::to_string(i);
      const Pin pin = *put(origin, key, as_byte_span(headrace::testing::pattern(1, 1000)), {});
      EXPECT_TRUE(read_now(**made, {.key = key, .pin = pin}));
    }
    (*made)->flush();
    return *std::move(made);
  }
  std::filesystem::path first(const std::string& extension) const {
    for (const auto& entry : std::filesystem::directory_iterator(dir_ + "/v1"))
      if (entry.path().extension() == extension) return entry.path();
    return {};
  }
  static void ignore(const Verification&) {}

  headrace::testing::TemporaryFolder folder_;
  const std::string dir_ = folder_.string() + "/keep";
  MemoryStore one_{"s3://one"};
  MemoryStore two_{"s3://two"};
};

TEST_F(SurveyTest, SaysWhatIsKeptAndInUse) {
  keep(one_, 10);
  const auto live = keep(two_, 5);
  const auto survey = keep::survey(dir_, {});
  ASSERT_TRUE(survey) << survey.error().to_string();
  ASSERT_EQ(survey->segments.size(), 2U);
  EXPECT_EQ(survey->segments[0].store, "s3://one");
  EXPECT_EQ(survey->segments[0].objects, 10U);
  EXPECT_EQ(survey->segments[0].data_bytes, 10'000U);
  EXPECT_FALSE(survey->segments[0].live);
  EXPECT_FALSE(survey->segments[0].wanted);
  EXPECT_EQ(survey->segments[1].store, "s3://two");
  EXPECT_TRUE(survey->segments[1].live);
  EXPECT_TRUE(survey->segments[1].wanted);
  EXPECT_GT(survey->free_bytes, 0U);
  EXPECT_EQ(survey->left_behind_bytes, 0U);
}

TEST_F(SurveyTest, ListsEveryPiece) {
  keep(one_, 3);
  std::vector<std::string> keys;
  ASSERT_TRUE(list_pieces(dir_, {}, [&keys](const KeptPiece& piece) -> Result<void> {
    EXPECT_EQ(piece.store, "s3://one");
    EXPECT_EQ(piece.length, 1000U);
    keys.push_back(piece.key);
    return {};
  }));
  EXPECT_EQ(keys, (std::vector<std::string>{"k0", "k1", "k2"}));
  const auto failed = list_pieces(
      dir_, {}, [](const KeptPiece&) -> Result<void> { return Error(Code::exhausted, "enough"); });
  EXPECT_EQ(failed.error().code(), Code::exhausted);
}

TEST_F(SurveyTest, VerifyFindsWhatIsDamaged) {
  keep(one_, 10);
  EXPECT_TRUE(verify(dir_, false, {}, ignore)->damaged.empty());
  {
    std::fstream data(first(".data"), std::ios::in | std::ios::out | std::ios::binary);
    data.seekp(3456);
    data.put('!');
  }
  const auto result = verify(dir_, false, {}, ignore);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->pieces, 10U);
  EXPECT_EQ(result->bytes, 10'000U);
  ASSERT_EQ(result->damaged.size(), 1U);
  EXPECT_EQ(result->damaged[0].key, "k3");
  const auto purged = verify(dir_, true, {}, ignore);
  ASSERT_TRUE(purged);
  EXPECT_EQ(purged->purged.size(), 1U);
  EXPECT_TRUE(first(".data").empty());
}

TEST_F(SurveyTest, PurgeSparesWhatLiveJobsUse) {
  keep(one_, 10);
  auto live = keep(two_, 5);
  EXPECT_EQ(purge(dir_, "s3://three", {})->segments, 0U);
  const auto result = purge(dir_, "", {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->segments, 1U);
  EXPECT_EQ(result->in_use, 1U);
  EXPECT_GT(result->bytes, 10'000U);
  live.reset();
  EXPECT_EQ(purge(dir_, "s3://two", {})->segments, 1U);
  EXPECT_EQ(keep::survey(dir_, {})->segments.size(), 0U);
}

TEST_F(SurveyTest, WhatDeadWritersLeftIsCountedAndRemoved) {
  keep(one_, 1);
  std::ofstream(dir_ + "/v1/s-000000000005-0000000000000005-1000.new") << "half";
  std::ofstream(dir_ + "/v1/s-000000000006-0000000000000006-1000.data") << "orphan";
  EXPECT_GT(keep::survey(dir_, {})->left_behind_bytes, 0U);
  ASSERT_TRUE(purge(dir_, "s3://none", {}));
  EXPECT_EQ(keep::survey(dir_, {})->left_behind_bytes, 0U);
  EXPECT_EQ(keep::survey(dir_, {})->segments.size(), 1U);
}

TEST_F(SurveyTest, NoCacheIsNotFound) {
  EXPECT_EQ(keep::survey(folder_.string() + "/none", {}).error().code(), Code::not_found);
  EXPECT_FALSE(std::filesystem::exists(folder_.string() + "/none"));
}

}  // namespace
}  // namespace headrace::keep
