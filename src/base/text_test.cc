// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/text.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Text, LettersOfAsciiBecomeSmall) {
  EXPECT_EQ(lower("Content-LENGTH: \xc3\x84 9[`{@"), "content-length: \xc3\x84 9[`{@");
  EXPECT_EQ(lower(""), "");
}

TEST(Text, BlanksGoAtBothEndsAndNowhereElse) {
  EXPECT_EQ(trim(" \t a b\t", " \t"), "a b");
  EXPECT_EQ(trim("\ta ", " "), "\ta");
  EXPECT_EQ(trim("a", " "), "a");
  EXPECT_EQ(trim("", " "), "");
  EXPECT_EQ(trim("  ", " "), "");
  EXPECT_EQ(trim(" a ", ""), " a ");
}

}  // namespace
}  // namespace headrace
