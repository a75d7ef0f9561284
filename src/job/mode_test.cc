// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "headrace/job/job.h"

namespace headrace {
namespace {

TEST(Mode, NamesReadBack) {
  for (const auto mode : {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::pipe}) {
    EXPECT_EQ(*parse_mode(to_string(mode)), mode);
  }
}

TEST(Mode, AnUnknownNameSaysWhichThereAre) {
  for (const char* name : {"", "Keep", "fastfile", "keep "}) {
    const auto mode = parse_mode(name);
    ASSERT_FALSE(mode.ok());
    EXPECT_EQ(mode.error().code(), Code::invalid);
    EXPECT_NE(mode.error().remedy().find("stream"), std::string::npos);
  }
}

TEST(Mode, KeepForABucketDirectForAPath) {
  EXPECT_EQ(default_mode("s3://bucket/prefix"), Mode::keep);
  EXPECT_EQ(default_mode("/data/set"), Mode::direct);
  EXPECT_EQ(default_mode("data/set"), Mode::direct);
}

}  // namespace
}  // namespace headrace
