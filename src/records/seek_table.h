// SPDX-License-Identifier: Apache-2.0
/// \file Where reading of a compressed file can begin: random access to the stream that it holds.
///
/// A compressed file has no offsets of its own. It is inflated once, and what is needed to begin
/// again in its middle is kept: about every kSpacing of the stream the 32 KiB before (as zlib's
/// examples/zran.c does it). So a record of a compressed container is read by a range of the file
/// as it is, and nothing is unpacked to a disk. The price: each read begins at the point before its
/// record, half of kSpacing too early on average, and a table takes about 3 % of the stream's size.
///
/// A table is bytes, to be kept in a SideStore or in mapped memory. Views; const is thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace {

enum class Compression : std::uint8_t { none, gzip, zlib };

std::string_view to_string(Compression compression);  ///< "GZIP"

struct SeekPoint {
  std::uint64_t out = 0;  ///< offset in the stream
  std::uint64_t in = 0;   ///< in the file, the first whole byte
  std::uint64_t window_at = 0;
  std::uint32_t window_bytes = 0;
  std::uint16_t bits = 0;     ///< of the byte before it that belong to it
  std::uint16_t wrapped = 0;  ///< 1: a member begins here with its header
};
static_assert(sizeof(SeekPoint) == 32);

/// Bytes of the file before `in` give the stream up to `out`.
struct SeekMark {
  std::uint64_t out = 0;
  std::uint64_t in = 0;
};

class SeekTableBuilder {
 public:
  static constexpr std::uint64_t kSpacing = 1U << 20U;
  /// Beginnings of members cost no window.
  static constexpr std::uint64_t kMemberSpacing = 64U << 10U;

  bool wants_point(std::uint64_t out) const { return out >= points_.back().out + kSpacing; }
  void add_point(SeekPoint point, ByteSpan window);
  void add_member(std::uint64_t out, std::uint64_t in);
  void add_mark(std::uint64_t out, std::uint64_t in) { marks_.push_back({.out = out, .in = in}); }

  std::vector<std::byte> to_bytes(Compression compression) const;

 private:
  std::vector<SeekPoint> points_;
  std::vector<SeekMark> marks_;
  std::vector<std::byte> windows_;
};

class SeekTable {
 public:
  /// `corrupt` if they are not what SeekTableBuilder::to_bytes made. Any alignment.
  static Result<void> check(ByteSpan table);
  /// REQUIRES: `table` passed `check`, lies at a multiple of 8 and outlives this
  explicit SeekTable(ByteSpan table);

  Compression compression() const { return compression_; }
  /// What must be read of the file for [begin, end) of the stream; never empty.
  ByteRange range(std::uint64_t begin, std::uint64_t end) const;
  /// [begin, end) of the stream, out of the bytes that `range` names.
  ///  * `corrupt`   they are not the bytes of which the table was made
  Result<Bytes> inflate(ByteSpan bytes, std::uint64_t begin, std::uint64_t end) const;

 private:
  const SeekPoint& point_before(std::uint64_t begin) const;

  Compression compression_;
  std::span<const SeekPoint> points_;
  std::span<const SeekMark> marks_;
  ByteSpan windows_;
};

}  // namespace headrace
