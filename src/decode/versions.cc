// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/versions.h"

#include <fmt/format.h>
#include <spng.h>
#include <webp/decode.h>

#include <cstddef>
#include <cstdio>
// After stdio, which it needs.
#include <jpeglib.h>

namespace headrace {

std::vector<DecoderVersion> decoder_versions() {
  constexpr int kByte = 0xff;
  const int jpeg = LIBJPEG_TURBO_VERSION_NUMBER;  // 2001005; it cannot be asked when it runs
  const int webp = WebPGetDecoderVersion();
  return {{"libjpeg-turbo",
           fmt::format("{}.{}.{}", jpeg / 1'000'000, jpeg / 1'000 % 1'000, jpeg % 1'000)},
          {"libspng", spng_version_string()},
          {"libwebp", fmt::format("{}.{}.{}", webp >> 16U, (webp >> 8U) & kByte, webp & kByte)}};
}

}  // namespace headrace
