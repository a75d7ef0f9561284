// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/checksum.h"

#include <gtest/gtest.h>

#include "headrace/storage/testing/pattern.h"

namespace headrace::s3 {
namespace {

std::string of(BodyChecksum::Kind kind, std::string_view text) {
  BodyChecksum checksum(kind);
  checksum.add(as_byte_span(text));
  return checksum.value();
}

// The check values of the catalogue of CRC algorithms: cbf43926, e3069283, ae8b14860a799888.
TEST(BodyChecksum, CheckValues) {
  EXPECT_EQ(of(BodyChecksum::Kind::crc32, "123456789"), "y/Q5Jg==");
  EXPECT_EQ(of(BodyChecksum::Kind::crc32c, "123456789"), "4waSgw==");
  EXPECT_EQ(of(BodyChecksum::Kind::crc64nvme, "123456789"), "rosUhgp5mIg=");
  EXPECT_EQ(of(BodyChecksum::Kind::crc32, ""), "AAAAAA==");
  EXPECT_EQ(of(BodyChecksum::Kind::crc64nvme, ""), "AAAAAAAAAAA=");
}

TEST(BodyChecksum, PiecesOfAnySizeGiveTheSame) {
  const std::string text = testing::pattern(7, 1000);
  for (const auto kind :
       {BodyChecksum::Kind::crc32, BodyChecksum::Kind::crc32c, BodyChecksum::Kind::crc64nvme}) {
    for (const std::size_t cut : {0U, 1U, 15U, 16U, 17U, 500U, 999U}) {
      BodyChecksum pieces(kind);
      pieces.add(as_byte_span(std::string_view(text).substr(0, cut)));
      pieces.add(as_byte_span(std::string_view(text).substr(cut)));
      EXPECT_EQ(pieces.value(), of(kind, text)) << cut;
    }
  }
}

TEST(BodyChecksum, ThoseOfPartsMakeUpTheWholes) {
  const std::string text = testing::pattern(7, 70'000);
  for (const auto kind :
       {BodyChecksum::Kind::crc32, BodyChecksum::Kind::crc32c, BodyChecksum::Kind::crc64nvme}) {
    for (const std::size_t cut : {0U, 1U, 500U, 65'536U, 70'000U}) {
      BodyChecksum whole(kind);
      BodyChecksum rest(kind);
      whole.add(as_byte_span(std::string_view(text).substr(0, cut)));
      rest.add(as_byte_span(std::string_view(text).substr(cut)));
      whole.append(rest, text.size() - cut);
      EXPECT_EQ(whole.value(), of(kind, text)) << cut;
      whole.add(as_byte_span(std::string_view(text)));
      EXPECT_EQ(whole.value(), of(kind, text + text)) << "and goes on";
    }
  }
}

TEST(BodyChecksum, OthersAreNotChecked) {
  EXPECT_EQ(BodyChecksum::kind_of("crc32c"), BodyChecksum::Kind::crc32c);
  EXPECT_FALSE(BodyChecksum::kind_of("sha256").has_value());
  EXPECT_FALSE(BodyChecksum::kind_of("type").has_value());
}

}  // namespace
}  // namespace headrace::s3
