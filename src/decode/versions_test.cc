// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/versions.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace headrace {
namespace {

TEST(Versions, AreThreeNumbersEach) {
  const auto all = decoder_versions();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].library, "libjpeg-turbo");
  for (const auto& [library, version] : all) {
    EXPECT_EQ(std::ranges::count(version, '.'), 2) << library << " " << version;
    EXPECT_NE(version, "0.0.0") << library;
    EXPECT_EQ(version.find_first_not_of("0123456789."), std::string::npos) << version;
  }
}

}  // namespace
}  // namespace headrace
