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

TEST(CliNumbers, SharesArePartsOrPercents) {
  const auto share = [](std::string text) {
    double value = -1;
    CLI::App app("test");
    app.add_option("--share", value)->transform(as_share());
    try {
      app.parse(std::vector<std::string>{std::move(text), "--share"});
    } catch (const CLI::ParseError&) {
      return -1.0;
    }
    return value;
  };
  EXPECT_EQ(share("0.1%"), 0.001);
  EXPECT_EQ(share("100%"), 1.0);
  EXPECT_EQ(share("0"), 0.0);
  EXPECT_EQ(share("0.25"), 0.25);
  EXPECT_EQ(share("1e-3"), 0.001);
  for (const auto* wrong : {"101%", "1.5", "-0.1", "-1%", "nan", "inf", "x", "%", "", "1 %", "5%%"})
    EXPECT_EQ(share(wrong), -1.0) << wrong;
}

}  // namespace
}  // namespace headrace
