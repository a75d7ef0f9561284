// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/cli_numbers.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {
namespace {

/// What a command with --count, and --size of a subcommand, makes of the arguments.
struct Parsed {
  std::uint64_t count = 7;
  std::uint64_t size = 7;
  bool good = false;
};

Parsed parse(std::vector<std::string> reversed) {
  Parsed parsed;
  CLI::App app("test");
  app.add_option("--count", parsed.count)->capture_default_str();
  auto* const sub = app.add_subcommand("sub", "");
  sub->add_option("--size", parsed.size)->transform(CLI::AsSizeValue(false));
  refuse_wrapped_numbers(app);
  try {
    app.parse(reversed);
    parsed.good = true;
  } catch (const CLI::ParseError&) {  // good stays false
  }
  return parsed;
}

TEST(CliNumbers, WhatFitsIsTaken) {
  EXPECT_EQ(parse({"18446744073709551615", "--count"}).count, UINT64_MAX);
  EXPECT_EQ(parse({"0", "--count"}).count, 0U);
  EXPECT_EQ(parse({"2k", "--size", "sub"}).size, 2048U);
  EXPECT_TRUE(parse({}).good);
}

TEST(CliNumbers, WhatWouldWrapIsRefused) {
  EXPECT_FALSE(parse({"-1", "--count"}).good);
  EXPECT_FALSE(parse({"--count=-1"}).good);
  EXPECT_FALSE(parse({"18446744073709551616", "--count"}).good);
  EXPECT_FALSE(parse({"--size=-1", "sub"}).good);
  EXPECT_FALSE(parse({"--size=-1k", "sub"}).good);
  EXPECT_FALSE(parse({"99999999999999999999k", "--size", "sub"}).good);
  EXPECT_FALSE(parse({"many", "--count"}).good);
}

}  // namespace
}  // namespace headrace
