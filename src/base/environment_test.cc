// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "headrace/base/cache_folder.h"
#include "headrace/base/parse_number.h"

namespace headrace {
namespace {

TEST(ParseNumber, IsTheWholeTextOrNothing) {
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<double>("2.5e3"), 2500.0);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "x", "-1", "18446744073709551616", "1.0"})
    EXPECT_FALSE(parse_number<std::uint64_t>(text)) << text;
  EXPECT_FALSE(parse_number<std::uint16_t>("65536"));
  EXPECT_FALSE(parse_number<double>("2,5"));
}

TEST(CacheFolder, IsWhatTheVariableNamesElseTheUsers) {
  constexpr const char* kName = "HEADRACE_TEST_CACHE_FOLDER";
  const auto folder = [] { return cache_folder(kName, "headrace-x"); };
  for (const char* name : {kName, "XDG_CACHE_HOME", "HOME"}) ASSERT_EQ(unsetenv(name), 0);
  EXPECT_EQ(folder(), "");
  ASSERT_EQ(setenv("HOME", "/home/u", 1), 0);
  EXPECT_EQ(folder(), "/home/u/.cache/headrace-x");
  ASSERT_EQ(setenv("XDG_CACHE_HOME", "/caches", 1), 0);
  EXPECT_EQ(folder(), "/caches/headrace-x");
  ASSERT_EQ(setenv(kName, "/named", 1), 0);
  EXPECT_EQ(folder(), "/named");
  ASSERT_EQ(setenv(kName, "", 1), 0);
  EXPECT_EQ(folder(), "/caches/headrace-x");
}

}  // namespace
}  // namespace headrace
