// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/plain_path.h"

#include <gtest/gtest.h>

#include <string_view>

namespace headrace {
namespace {

TEST(PlainPath, NothingLeadsOutOfTheFolder) {
  for (const std::string_view good : {"cat/7.jpg", "a/b/c", "a/..b", "a/b..", "größe/ x"})
    EXPECT_TRUE(is_plain_path(good)) << good;
  using namespace std::string_view_literals;
  for (const std::string_view bad :
       {""sv, "7.jpg"sv, "/etc/passwd"sv, "../x"sv, "a/../x"sv, "a/.."sv, "a//b"sv, "a/"sv, "./a"sv,
        "a/./b"sv, "/"sv, "a/\0"sv})
    EXPECT_FALSE(is_plain_path(bad)) << bad;
}

}  // namespace
}  // namespace headrace
