// SPDX-License-Identifier: Apache-2.0
/// \file RecordIO framing: magic, length, payload, padding; and records in several parts.
///
/// Pure functions; bytes in FORMAT.md.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/records/recordio/parts.h"

namespace headrace::recordio {

inline constexpr std::uint32_t kMagic = 0xced7230a;
inline constexpr std::uint64_t kHeaderBytes = 8;
inline constexpr std::uint64_t kMaxLength = (1U << 29U) - 1;

/// A part's second header word.
struct PartHeader {
  explicit PartHeader(std::uint32_t word) : flag(word >> 29U), length(word & kMaxLength) {}

  unsigned flag;  ///< 0 whole, 1 first, 2 middle, 3 last; others are damage
  std::uint64_t length;

  bool begins() const { return flag == 0 || flag == 1; }
  bool goes_on() const { return flag == 2 || flag == 3; }
  bool ends() const { return flag == 0 || flag == 3; }
};

constexpr std::uint64_t padded(std::uint64_t length) { return (length + 3) & ~std::uint64_t{3}; }

/// The record in one whole frame. A slice of the frame if it has one part.
///  * `corrupt`   magic, flag or length are wrong, or the frame is longer than the record
Result<Bytes> unframe(const Bytes& frame, Parts parts = Parts::automatic);

/// Appends the frame of the record `header` + `payload` as dmlc writes it: at every magic at a
/// multiple of 4 the record is split.
///  * `invalid`   the record is longer than kMaxLength
/// REQUIRES: header.size() is a multiple of 4
Result<void> append_frame(ByteSpan header, ByteSpan payload, std::vector<std::byte>& out);

/// Appends the frame of `record` as SageMaker's writers do: one part, whatever it holds.
///  * `invalid`   the record is longer than kMaxLength
Result<void> append_unsplit(ByteSpan record, std::vector<std::byte>& out);

}  // namespace headrace::recordio
