// SPDX-License-Identifier: Apache-2.0
/// \file Our spans as zlib wants them. For files that include zlib.h.
#pragma once

#include <zlib.h>

#include <span>

#include "headrace/base/bytes.h"
#include "headrace/records/seek_table.h"

namespace headrace::zlib_call {

/// For inflateInit2: which wrapper to expect.
inline int window_bits(Compression compression) {
  return compression == Compression::gzip ? MAX_WBITS + 16 : MAX_WBITS;
}
inline constexpr int kRawBits = -MAX_WBITS;

inline Bytef* as_output(std::byte* at) { return static_cast<Bytef*>(static_cast<void*>(at)); }
/// zlib reads only, whatever its types say.
inline Bytef* as_input(const std::byte* at) { return as_output(const_cast<std::byte*>(at)); }

/// REQUIRES: fewer than 2^32 bytes
inline void set_input(z_stream& stream, ByteSpan bytes) {
  stream.next_in = as_input(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
}
inline void set_output(z_stream& stream, std::span<std::byte> room) {
  stream.next_out = as_output(room.data());
  stream.avail_out = static_cast<uInt>(room.size());
}

}  // namespace headrace::zlib_call
