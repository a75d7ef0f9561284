// SPDX-License-Identifier: Apache-2.0
/// \file Where the pixels of a part of an encoded picture come from: the one place that chooses
/// a decoder. Ordinary JPEGs go through our own, which is exact and faster; whatever it does not
/// take, or does not find clean, goes to libjpeg-turbo, which has the last word.
///
/// Not thread-safe: one object a thread; it keeps handles and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/jpeg/region.h"
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
  /// By our own decoder, if it takes this picture and finds its data clean.
  std::optional<RgbView> fast_part(ByteSpan encoded, const Box& box);
  /// The same for the whole picture.
  std::optional<RgbView> fast_whole(ByteSpan encoded);

  DecodeLimits limits_;
  JpegLibrary jpeg_;
  jpeg::RegionDecoder fast_;
  std::vector<std::uint8_t> rgb_;
};

}  // namespace headrace
