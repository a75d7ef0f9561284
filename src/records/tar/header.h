// SPDX-License-Identifier: Apache-2.0
/// \file One block of 512 bytes of a tar: an entry's header, zeros, or neither.
///
/// Pure functions; bytes in FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::tar {

inline constexpr std::uint64_t kBlock = 512;

constexpr std::uint64_t padded(std::uint64_t bytes) {
  return (bytes + kBlock - 1) / kBlock * kBlock;
}

/// Type flags that change how what follows is read; all others are names of things without data.
enum class Type : char {
  regular = '0',
  hard_link = '1',
  symbolic_link = '2',
  folder = '5',
  gnu_sparse = 'S',
  gnu_long_name = 'L',
  gnu_long_link = 'K',
  pax = 'x',
  pax_global = 'g',
};

struct Header {
  std::string name;        ///< prefix and name, bytes as they stand there
  std::uint64_t size = 0;  ///< of the data that follow
  Type type = Type::regular;
};

/// True for a block whose checksum is its own: what a header is known by. REQUIRES: kBlock bytes
bool is_header(ByteSpan block);
bool is_zero(ByteSpan block);

/// `corrupt`, with the field that makes no sense. REQUIRES: is_header(block)
Result<Header> parse_header(ByteSpan block);

/// A number as tar keeps it: octal digits among spaces and zeros, or base 256.
/// `corrupt` if it is none, negative, or above 2^63.
Result<std::uint64_t> parse_number(ByteSpan field);

}  // namespace headrace::tar
