// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/key_space.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(KeySpaceTest, TheMiddleOfNumbersIsAboutHalf) {
  KeySpace space;
  space.saw("img_0000000.jpg");  // one digit stands for ten
  const std::string middle = space.middle("img_0000999.jpg", "img_9");
  EXPECT_GE(middle, "img_3");
  EXPECT_LE(middle, "img_6");
}

TEST(KeySpaceTest, TheMiddleLiesBetween) {
  KeySpace space;
  for (const char* key : {"a/b", "\xE7\x8C\xAB", "\xE7\x8A\xAC.jpg", "zebra 12", "\xFF\xFE"})
    space.saw(key);
  const std::vector<std::string> keys = {"",
                                         "a",
                                         "a/",
                                         "a/b",
                                         "a0",
                                         "b",
                                         "zebra",
                                         "\xE7\x8A\xAC",
                                         "\xE7\x8C\xAB",
                                         "\xE7\x8C\xAB"
                                         "a"};
  for (const auto& low : keys) {
    for (const auto& high : keys) {
      if (low >= high) continue;
      if (const std::string guess = space.middle(low, high); !guess.empty()) {
        EXPECT_GT(guess, low) << high;
        EXPECT_LT(guess, high) << low;
      }
    }
    if (const std::string guess = space.middle(low, std::nullopt); !guess.empty()) {
      EXPECT_GT(guess, low);
    }
  }
}

TEST(KeySpaceTest, BetweenNeighboursThereIsNoMiddle) {
  KeySpace space;
  space.saw("abc");
  EXPECT_EQ(space.middle("a", "aa"), "");
  EXPECT_EQ(KeySpace().middle("", std::nullopt), "") << "nothing was seen";
}

TEST(KeySpaceTest, WhatIsLeftFallsFromAllToNothing) {
  KeySpace space;
  space.saw("img_0000000.jpg");
  const std::string end = "img_9";
  EXPECT_DOUBLE_EQ(space.share_left("img_0", "img_0", end), 1);
  EXPECT_NEAR(space.share_left("img_0", "img_45", end), 0.5, 0.05);
  EXPECT_DOUBLE_EQ(space.share_left("img_0", "img_9", end), 0);
  EXPECT_GT(space.share_left("img_0", "img_1", std::nullopt), 0);
}

TEST(KeySpaceTest, BehindPrefixesAreAboveTheKeyAndFalling) {
  EXPECT_EQ(KeySpace::behind_prefixes("ab0", 8), (std::vector<std::string>{"b", "ac", "ab1"}));
  EXPECT_EQ(KeySpace::behind_prefixes("ab0", 2), (std::vector<std::string>{"b", "ac"}));
  EXPECT_EQ(KeySpace::behind_prefixes("\xE7\x8C\xAB", 2),
            (std::vector<std::string>{"\xE7\x8C\xAC"}));
  EXPECT_TRUE(KeySpace::behind_prefixes("", 2).empty());
}

}  // namespace
}  // namespace headrace
