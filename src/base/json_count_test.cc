// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/json_count.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

TEST(JsonCount, TakesWholeNumbersOfSixtyFourBits) {
  for (const char* text : {"0", "7", "18446744073709551615"})
    EXPECT_EQ(std::to_string(json_count(nlohmann::json::parse(text))), text);
}

TEST(JsonCount, TakesNothingElse) {
  for (const char* text : {"-1", "1.0", "2e19", "1e400", "18446744073709551616", "\"7\"", "true",
                           "null", "[7]", "{}"}) {
    const auto value = nlohmann::json::parse(text, nullptr, false);
    EXPECT_THROW((void)json_count(value), nlohmann::json::exception) << text;
  }
}

}  // namespace
}  // namespace headrace
