// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/warm.h"

#include <gtest/gtest.h>

#include "headrace/job/testing/picture_folder.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::PictureFolder;
using testing::TemporaryFolder;

TEST(Warm, FillsTheCacheOnceAndFindsItFullAgain) {
  const PictureFolder pictures(30, HEADRACE_TEST_DATA "/vectors");
  const TemporaryFolder cache;
  JobOptions options;
  options.uri = pictures.path();
  options.keep_dir = cache.string() + "/keep";
  const auto first = warm(options, {}, {});
  ASSERT_TRUE(first) << first.error().to_string();
  EXPECT_GT(first->samples, 0U);
  EXPECT_GT(first->fetched_bytes, 0U);
  EXPECT_EQ(first->present_bytes, 0U);
  EXPECT_EQ(first->not_kept_bytes, 0U);
  const auto again = warm(options, {}, {});
  ASSERT_TRUE(again) << again.error().to_string();
  EXPECT_GT(again->present_bytes, 0U);
  EXPECT_LT(again->fetched_bytes, first->fetched_bytes / 2) << "a look at the format, no more";
}

TEST(Warm, SaysWhatFoundNoRoom) {
  const PictureFolder pictures(30, HEADRACE_TEST_DATA "/vectors");
  const TemporaryFolder cache;
  JobOptions options;
  options.uri = pictures.path();
  options.keep_dir = cache.string() + "/keep";
  options.keep_bytes = 1000;  // less than one segment
  const auto report = warm(options, {}, {});
  ASSERT_TRUE(report) << report.error().to_string();
  EXPECT_GT(report->not_kept_bytes, 0U);
}

TEST(Warm, StopsWhenTold) {
  const PictureFolder pictures(30, HEADRACE_TEST_DATA "/vectors");
  const TemporaryFolder cache;
  JobOptions options;
  options.uri = pictures.path();
  options.keep_dir = cache.string() + "/keep";
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(warm(options, {}, stop.get_token()).error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace
