// SPDX-License-Identifier: Apache-2.0
/// \file TFRecord framing: length, its CRC, data, their CRC.
///
/// Pure functions; bytes in FORMAT.md.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::tfrecord {

inline constexpr std::uint64_t kHeaderBytes = 12;
inline constexpr std::uint64_t kFooterBytes = 4;
/// A frame's length is kept in 32 bits (shard_index.h).
inline constexpr std::uint64_t kMaxLength = 0xffff'ffffU - kHeaderBytes - kFooterBytes;

/// The length that a header tells; nothing if its CRC is wrong.
/// REQUIRES: header.size() >= kHeaderBytes
std::optional<std::uint64_t> length_in(ByteSpan header);

/// The data of one whole frame, a slice of it.
///  * `corrupt`   a CRC is wrong, or the length is not the frame's
Result<Bytes> unframe(const Bytes& frame);

/// Appends the frame of `data`.
///  * `invalid`   there is more than kMaxLength
Result<void> append_frame(ByteSpan data, std::vector<std::byte>& out);

}  // namespace headrace::tfrecord
