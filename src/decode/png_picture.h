// SPDX-License-Identifier: Apache-2.0
/// \file PNG by libspng, with the rules of its chunks checked here: checksums, order, the end.
///
/// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"

namespace headrace {

/// Whether it is a PNG that has more bits than pixels have here.
bool has_sixteen_bits(ByteSpan encoded);

/// Header only: size and limits; the rest of the file is not looked at.
Result<PictureInfo> inspect_png(ByteSpan encoded, const DecodeLimits& limits);

/// 8-bit RGB into `rgb`, which grows as needed. Of 16 bits the high byte stays, alpha and gamma
/// are dropped, text chunks are never inflated.
Result<PictureInfo> decode_png(ByteSpan encoded, const DecodeLimits& limits,
                               std::vector<std::uint8_t>& rgb, std::vector<std::string>& warnings);

}  // namespace headrace
