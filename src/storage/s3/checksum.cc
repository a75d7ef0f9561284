// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/checksum.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "headrace/storage/s3/crc_fold.h"

namespace headrace::s3 {
namespace {

// All three are reflected, begin with ones and end inverted; a 32-bit one uses the low half.
constexpr std::uint64_t kCrc32 = 0xedb88320U;
constexpr std::uint64_t kCrc32c = 0x82f63b78U;
constexpr std::uint64_t kCrc64Nvme = 0x9a6c9329ac4bc9b5U;  // of the NVM Express specification

/// Sixteen bytes a step: 2 to 3 GB/s. What is longer is folded to sixteen first, where that can be.
using Tables = std::array<std::array<std::uint64_t, 256>, 16>;

Tables make_tables(std::uint64_t polynomial) {
  Tables tables{};
  for (std::uint64_t i = 0; i < 256; ++i) {
    std::uint64_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? polynomial : 0U);
    tables[0][i] = crc;
  }
  for (std::size_t step = 1; step < tables.size(); ++step) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint64_t before = tables[step - 1][i];
      tables[step][i] = (before >> 8U) ^ tables[0][before & 0xffU];
    }
  }
  return tables;
}

std::uint64_t eight(const std::byte* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

std::uint64_t lookup(const Tables& tables, std::size_t first, std::uint64_t word) {
  std::uint64_t crc = 0;
  for (std::size_t i = 0; i < 8; ++i) crc ^= tables[first - i][(word >> (8 * i)) & 0xffU];
  return crc;
}

std::uint64_t by_tables(const Tables& tables, std::uint64_t crc, ByteSpan bytes) {
  while (bytes.size() >= 16) {
    crc = lookup(tables, 15, eight(bytes.data()) ^ crc) ^ lookup(tables, 7, eight(&bytes[8]));
    bytes = bytes.subspan(16);
  }
  for (const std::byte byte : bytes)
    crc = (crc >> 8U) ^ tables[0][(crc ^ std::to_integer<std::uint64_t>(byte)) & 0xffU];
  return crc;
}

/// Of polynomials over GF(2), modulo the checksum's; the highest bit stands for 1, the next for x.
std::uint64_t product(std::uint64_t polynomial, std::uint64_t one, std::uint64_t a,
                      std::uint64_t b) {
  std::uint64_t sum = 0;
  for (std::uint64_t bit = one; bit != 0; bit >>= 1U) {
    if ((a & bit) != 0) sum ^= b;
    b = (b >> 1U) ^ ((b & 1U) != 0 ? polynomial : 0U);
  }
  return sum;
}

/// x to this power, modulo the polynomial.
std::uint64_t power_of_x(std::uint64_t polynomial, std::uint64_t one, std::uint64_t exponent) {
  std::uint64_t power = one;
  for (std::uint64_t square = one >> 1U; exponent != 0; exponent >>= 1U) {
    if ((exponent & 1U) != 0) power = product(polynomial, one, power, square);
    square = product(polynomial, one, square, square);
  }
  return power;
}

struct Crc {
  explicit Crc(std::uint64_t poly, unsigned bits)
      : polynomial(poly), one(std::uint64_t{1} << (bits - 1)), tables(make_tables(poly)) {
    const auto factors = [&](std::uint64_t bytes) {
      auto powers = CrcFactors::powers(bytes);
      for (auto& power : powers) power = power_of_x(poly, one, power) << (64 - bits);
      return powers;
    };
    fold = {.by64 = factors(64), .by16 = factors(16)};
  }
  const std::uint64_t polynomial;
  const std::uint64_t one;  // that stands for 1
  const Tables tables;
  CrcFactors fold{};
};

const Crc& crc_of(BodyChecksum::Kind kind) {
  static const Crc crc32(kCrc32, 32);
  static const Crc crc32c(kCrc32c, 32);
  static const Crc crc64(kCrc64Nvme, 64);
  switch (kind) {
    case BodyChecksum::Kind::crc32:
      return crc32;
    case BodyChecksum::Kind::crc32c:
      return crc32c;
    case BodyChecksum::Kind::crc64nvme:
      break;
  }
  return crc64;
}

std::string base64(ByteSpan bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t here = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = (group << 8U) | (i < here ? std::to_integer<std::uint32_t>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i)
      text += i <= here ? kDigits[(group >> (18 - 6 * i)) & 63U] : '=';
  }
  return text;
}

}  // namespace

std::optional<BodyChecksum::Kind> BodyChecksum::kind_of(std::string_view name) {
  if (name == "crc32") return Kind::crc32;
  if (name == "crc32c") return Kind::crc32c;
  if (name == "crc64nvme") return Kind::crc64nvme;
  return std::nullopt;
}

BodyChecksum::BodyChecksum(Kind kind)
    : kind_(kind), state_(kind == Kind::crc64nvme ? ~std::uint64_t{0} : 0xffffffffU) {}

void BodyChecksum::add(ByteSpan bytes) {
  constexpr std::size_t kWorthFolding = 128;
  const Crc& crc = crc_of(kind_);
  if (bytes.size() >= kWorthFolding && can_fold()) {
    const std::size_t folded = bytes.size() / 16 * 16;
    const auto rest = fold(crc.fold, state_, bytes.first(folded));
    state_ = by_tables(crc.tables, 0, rest);
    bytes = bytes.subspan(folded);
  }
  state_ = by_tables(crc.tables, state_, bytes);
}

/// The first bytes' share is theirs times x for each bit that follows; the inversions cancel out.
void BodyChecksum::append(const BodyChecksum& next, std::uint64_t bytes) {
  const std::uint64_t polynomial = crc_of(kind_).polynomial;
  const std::uint64_t one = crc_of(kind_).one;
  const std::uint64_t ones = one | (one - 1);
  const std::uint64_t shift = power_of_x(polynomial, one, 8 * bytes);
  state_ = product(polynomial, one, shift, ~state_ & ones) ^ next.state_;
}

std::string BodyChecksum::value() const {
  std::array<std::byte, 8> big{};
  const std::size_t size = kind_ == Kind::crc64nvme ? 8 : 4;
  const std::uint64_t crc = ~state_;
  for (std::size_t i = 0; i < size; ++i)
    big[i] = static_cast<std::byte>((crc >> (8 * (size - 1 - i))) & 0xffU);
  return base64(ByteSpan(big).first(size));
}

}  // namespace headrace::s3
