// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/program.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(Program, IsFoundAsAShellFindsIt) {
  const auto shell = find_program("sh");
  ASSERT_TRUE(shell);
  EXPECT_TRUE(shell->ends_with("/sh"));
  EXPECT_EQ(find_program(*shell), shell);
}

TEST(Program, IsAFileThatMayBeExecuted) {
  EXPECT_FALSE(find_program("no-such-program-anywhere"));
  EXPECT_FALSE(find_program("/nowhere/sh"));
  EXPECT_FALSE(is_program("/tmp"));
  EXPECT_FALSE(is_program("/etc/passwd"));
}

}  // namespace
}  // namespace headrace
