// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/crc32c.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "headrace/records/testing/test_data.h"

namespace headrace {
namespace {

std::vector<std::byte> from_hex(const std::string& hex) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(Crc32c, IsTheOneOfTheGoldenFile) {
  const auto cases = nlohmann::json::parse(
      as_text(testing::read_file(HEADRACE_TEST_DATA "/vectors/tfrecord/crc32c.json").span()));
  ASSERT_GE(cases.size(), 9U);
  for (const auto& one : cases) {
    const auto bytes = from_hex(one["hex"]);
    SCOPED_TRACE(one["hex"]);
    EXPECT_EQ(fmt::format("{:08x}", crc32c(bytes)), one["crc32c"]);
    EXPECT_EQ(fmt::format("{:08x}", crc32c_portable(bytes)), one["crc32c"]);
    EXPECT_EQ(fmt::format("{:08x}", masked_crc32c(bytes)), one["masked"]);
  }
}

TEST(Crc32c, InstructionAndTablesAgreeAtEveryLengthAndAlignment) {
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same bytes each time
  std::vector<std::byte> bytes(70000);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  const ByteSpan all(bytes);
  for (std::size_t length = 0; length < 1700; ++length) {
    const ByteSpan part = all.subspan(length % 13, length);
    ASSERT_EQ(crc32c(part), crc32c_portable(part)) << length;
  }
  for (const std::size_t length : {24575U, 24576U, 24577U, 25344U, 49153U, 69990U}) {
    const ByteSpan part = all.subspan(3, length);
    EXPECT_EQ(crc32c(part), crc32c_portable(part)) << length;
  }
}

TEST(Crc32c, GoesOnWhereAnotherEnded) {
  const std::string text(40000, 'h');
  const ByteSpan all = as_byte_span(text);
  for (const std::size_t cut : {0U, 1U, 8U, 8191U, 24576U, 40000U})
    EXPECT_EQ(crc32c(all.subspan(cut), crc32c(all.first(cut))), crc32c(all)) << cut;
}

}  // namespace
}  // namespace headrace
