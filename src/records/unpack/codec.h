// SPDX-License-Identifier: Apache-2.0
/// \file What was compressed as a whole, as the stream that it holds.
///
/// Not thread-safe: one source, one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "headrace/base/bytes.h"
#include "headrace/records/byte_source.h"

namespace headrace {

enum class Codec { gzip, zstd, bzip2, xz, brotli, snappy };

/// "gzip", …
std::string_view to_string(Codec codec);
/// By the magic of those that have one: gzip, zstd, bzip2, xz.
std::optional<Codec> codec_of(ByteSpan first_bytes);

/// The bytes inside of `compressed`, which must outlive it; streams that stand back to back are
/// one, where the format allows it.
///  * `corrupt`     it is damaged or ends too early; what came before was given
///  * `exhausted`   it holds more than `most` bytes
std::unique_ptr<ByteSource> make_unpacking_source(ByteSource& compressed, Codec codec,
                                                  std::uint64_t most);

}  // namespace headrace
