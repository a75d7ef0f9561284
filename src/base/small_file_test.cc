// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/small_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace headrace {
namespace {

TEST(SmallFile, IsReadWhole) {
  const auto path = std::filesystem::path(::testing::TempDir()) / "headrace-small-file";
  const std::string content(200'000, 'x');
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_EQ(*read_small_file(path), content);
  EXPECT_EQ(*read_small_file(path, content.size()), content);
  EXPECT_EQ(read_small_file(path, content.size() - 1).error().code(), Code::invalid);
  std::filesystem::remove(path);
}

TEST(SmallFile, WhatHasNoEndIsRefused) {
  const auto endless = read_small_file("/dev/zero");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code(), Code::invalid);
  EXPECT_EQ(endless.error().place(), "/dev/zero");
}

TEST(SmallFile, NothingAndFoldersAreNamed) {
  EXPECT_EQ(*read_small_file("/dev/null"), "");
  EXPECT_EQ(read_small_file("/nowhere/at/all").error().code(), Code::not_found);
  EXPECT_FALSE(read_small_file("/"));
}

}  // namespace
}  // namespace headrace
