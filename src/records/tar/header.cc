// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headrace::tar {
namespace {

// Offset and length of the fields that are read.
constexpr std::size_t kNameAt = 0, kNameBytes = 100;
constexpr std::size_t kSizeAt = 124, kSizeBytes = 12;
constexpr std::size_t kChecksumAt = 148, kChecksumBytes = 8;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kMagicAt = 257;
constexpr std::size_t kPrefixAt = 345, kPrefixBytes = 155;

/// Up to the first zero byte: a field that is full has none.
std::string_view text_of(ByteSpan field) {
  const std::string_view text = as_text(field);
  return text.substr(0, text.find('\0'));
}

bool is_signed_sum(ByteSpan block, std::uint64_t wanted) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < kBlock; ++i) {
    const bool own = i >= kChecksumAt && i < kChecksumAt + kChecksumBytes;
    sum += own ? ' ' : static_cast<signed char>(block[i]);
  }
  return sum >= 0 && static_cast<std::uint64_t>(sum) == wanted;
}

bool has_data(char flag) {
  // Links, devices, folders and FIFOs have none, whatever their size says (as GNU tar and Python
  // read it); what is unknown may have some.
  return flag < '1' || flag > '6';
}

}  // namespace

bool is_zero(ByteSpan block) {
  return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{0}; });
}

Result<std::uint64_t> parse_number(ByteSpan field) {
  constexpr std::uint64_t kMax = std::uint64_t{1} << 63U;
  const auto first = std::to_integer<unsigned>(field.front());
  std::uint64_t value = 0;
  if ((first & 0x80U) != 0) {
    if ((first & 0x40U) != 0) return Error(Code::corrupt, "a negative number");
    value = first & 0x3fU;
    for (const std::byte byte : field.subspan(1)) {
      if (value >= kMax >> 8U) return Error(Code::corrupt, "a number above 2^63");
      value = value << 8U | std::to_integer<std::uint64_t>(byte);
    }
    return value;
  }
  std::string_view digits = text_of(field);
  const auto begin = digits.find_first_not_of(' ');
  if (begin == std::string_view::npos) return 0;
  digits = digits.substr(begin, digits.find_last_not_of(' ') - begin + 1);
  for (const char digit : digits) {
    if (digit < '0' || digit > '7')
      return Error(Code::corrupt, fmt::format("\"{}\" is no octal number", digits));
    value =
        value << 3U | static_cast<std::uint64_t>(digit - '0');  // at most 12 digits: no overflow
  }
  return value;
}

bool is_header(ByteSpan block) {
  const auto wanted = parse_number(block.subspan(kChecksumAt, kChecksumBytes));
  if (!wanted || is_zero(block)) return false;
  std::uint64_t sum = 0;
  for (const std::byte byte : block) sum += std::to_integer<std::uint64_t>(byte);
  for (const std::byte byte : block.subspan(kChecksumAt, kChecksumBytes))
    sum -= std::to_integer<std::uint64_t>(byte);
  sum += kChecksumBytes * ' ';
  return sum == *wanted || is_signed_sum(block, *wanted);  // some old writers had signed chars
}

Result<Header> parse_header(ByteSpan block) {
  Header header;
  header.name = text_of(block.subspan(kNameAt, kNameBytes));
  // "ustar" and a zero: GNU's own headers have a space there, and other things in the prefix.
  if (std::memcmp(&block[kMagicAt], "ustar", 6) == 0) {
    const auto prefix = text_of(block.subspan(kPrefixAt, kPrefixBytes));
    if (!prefix.empty()) header.name = fmt::format("{}/{}", prefix, header.name);
  }
  const char flag = static_cast<char>(block[kTypeAt]);
  const bool plain = flag == '0' || flag == '\0' || flag == '7';
  header.type = static_cast<Type>(plain ? '0' : flag);
  if (flag == 'X') header.type = Type::pax;  // Solaris' own, with the same records
  if (flag == '\0' && header.name.ends_with('/')) header.type = Type::folder;  // as V7 writes it
  auto size = parse_number(block.subspan(kSizeAt, kSizeBytes));
  if (!size) {
    return Error(Code::corrupt,
                 fmt::format("the size of \"{}\" is wrong: {}", header.name, size.error().cause()));
  }
  header.size = has_data(flag) ? *size : 0;
  return header;
}

}  // namespace headrace::tar
