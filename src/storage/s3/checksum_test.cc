// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/checksum.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>

#include <array>

#include "headrace/storage/testing/pattern.h"

namespace headrace::s3 {
namespace {

std::string of(BodyChecksum::Kind kind, std::string_view text) {
  BodyChecksum checksum(kind);
  checksum.add(as_byte_span(text));
  return checksum.value();
}

/// The big-endian bytes of a value, by OpenSSL.
std::string in_base64(std::uint64_t value, std::size_t size) {
  std::array<unsigned char, 8> big{};
  for (std::size_t i = 0; i < size; ++i)
    big.at(i) = static_cast<unsigned char>(value >> (8 * (size - 1 - i)));
  std::array<unsigned char, 16> text{};
  const int length = EVP_EncodeBlock(text.data(), big.data(), static_cast<int>(size));
  return {text.begin(), text.begin() + length};
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

/// Bit by bit, as the definition says.
std::uint64_t slow(std::uint64_t polynomial, std::uint64_t ones, std::string_view text) {
  std::uint64_t crc = ones;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0U);
  }
  return crc ^ ones;
}

TEST(BodyChecksum, HoldsForEveryLengthAndPlace) {
  const std::string text = testing::pattern(7, 2000);
  constexpr std::uint64_t kOnes32 = 0xffffffff;
  for (std::size_t length = 0; length < 700; length = length < 300 ? length + 1 : length + 37) {
    for (const std::size_t at : {0U, 1U, 7U, 1000U}) {
      const auto part = std::string_view(text).substr(at, length);
      EXPECT_EQ(of(BodyChecksum::Kind::crc32, part), in_base64(slow(0xedb88320, kOnes32, part), 4));
      EXPECT_EQ(of(BodyChecksum::Kind::crc32c, part),
                in_base64(slow(0x82f63b78, kOnes32, part), 4));
      EXPECT_EQ(of(BodyChecksum::Kind::crc64nvme, part),
                in_base64(slow(0x9a6c9329ac4bc9b5, ~std::uint64_t{0}, part), 8));
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
