// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "headrace/job/job.h"

namespace headrace {
namespace {

TEST(Mode, NamesReadBack) {
  for (const auto mode :
       {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::fastfile, Mode::pipe}) {
    EXPECT_EQ(*parse_mode(to_string(mode)), mode);
  }
}

TEST(Mode, AnUnknownNameSaysWhichThereAre) {
  for (const char* name : {"", "Keep", "fast file", "keep "}) {
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

TEST(CheckOptions, WhatBelongsToAnotherModeIsNamedWithBoth) {
  const auto check = [](Mode mode, void (*set)(JobOptions&)) {
    JobOptions options{.uri = "s3://bucket/set", .mode = mode};
    set(options);
    const auto checked = check_options(options);
    return checked ? std::string() : checked.error().to_string();
  };
  const auto keep_dir = [](JobOptions& job) { job.keep_dir = "/cache"; };
  const auto local = [](JobOptions& job) { job.local = "/copy"; };
  const auto pipe_dir = [](JobOptions& job) { job.pipe_dir = "/pipes"; };
  EXPECT_EQ(check(Mode::keep, keep_dir), "");
  EXPECT_EQ(check(Mode::direct, local), "");
  EXPECT_EQ(check(Mode::file, local), "");
  EXPECT_EQ(check(Mode::pipe, pipe_dir), "");
  for (const auto mode : {Mode::direct, Mode::file, Mode::stream, Mode::pipe}) {
    const auto said = check(mode, keep_dir);
    EXPECT_NE(said.find("--keep-dir"), std::string::npos) << said;
    EXPECT_NE(said.find(to_string(mode)), std::string::npos) << said;
  }
  for (const auto mode : {Mode::stream, Mode::keep, Mode::pipe}) EXPECT_NE(check(mode, local), "");
  for (const auto mode : {Mode::direct, Mode::stream}) {
    EXPECT_NE(check(mode, pipe_dir), "");
    EXPECT_NE(check(mode, [](JobOptions& job) { job.pipe_pairs = true; }), "");
    EXPECT_NE(check(mode, [](JobOptions& job) { job.pipe_channel = "x"; }), "");
    EXPECT_NE(check(mode, [](JobOptions& job) { job.keep_bytes = 1; }), "");
  }
}

TEST(CheckOptions, TheModeThatTheUriMeansCounts) {
  EXPECT_TRUE(check_options({.uri = "s3://bucket/set", .keep_dir = "/cache"}).ok());
  EXPECT_FALSE(check_options({.uri = "/data/set", .keep_dir = "/cache"}).ok());
}

TEST(CheckOptions, AMediumThatIsNotKnownIsSaidBeforeAnyWork) {
  const auto checked = check_options({.uri = "/nowhere/at/all", .medium = "punch-cards"});
  ASSERT_FALSE(checked.ok());
  EXPECT_NE(checked.error().to_string().find("punch-cards"), std::string::npos);
}

}  // namespace
}  // namespace headrace
