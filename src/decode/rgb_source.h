// SPDX-License-Identifier: Apache-2.0
/// \file Where the pixels of a part of an encoded picture come from: the one place that chooses
/// a decoder.
///
/// Not thread-safe: one object a thread; it keeps handles and buffers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/jpeg_library.h"
#include "headrace/decode/resize.h"

namespace headrace {

class RgbSource {
 public:
  explicit RgbSource(const DecodeLimits& limits) : limits_(limits) {}

  Result<PictureInfo> inspect(ByteSpan encoded);
  /// The whole picture; the view is valid until the next call. Grows `warnings`.
  Result<RgbView> whole(ByteSpan encoded, std::vector<std::string>& warnings);
  /// The part `box` of the picture, of which `inspect` told the size: exactly what `whole` would
  /// give there.
  Result<RgbView> part(ByteSpan encoded, const Box& box, std::vector<std::string>& warnings);

 private:
  DecodeLimits limits_;
  JpegLibrary jpeg_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace headrace
