// SPDX-License-Identifier: Apache-2.0
/// \file WebP by libwebp.
///
/// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"

namespace headrace {

Result<PictureInfo> inspect_webp(ByteSpan encoded, const DecodeLimits& limits);

/// 8-bit RGB into `rgb`, which grows as needed; alpha is dropped, animations are refused.
Result<PictureInfo> decode_webp(ByteSpan encoded, const DecodeLimits& limits,
                                std::vector<std::uint8_t>& rgb);

}  // namespace headrace
