// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/webp_picture.h"

#include <fmt/format.h>
#include <webp/decode.h>

namespace headrace {

namespace {

Error webp_error(VP8StatusCode status, std::size_t size) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      return {Code::exhausted, "WebP: no memory"};
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      return {Code::corrupt, fmt::format("WebP: cut short, {} bytes are there", size),
              "get the whole file again"};
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      return {Code::corrupt, "WebP: unsupported feature"};
    default:
      return {Code::corrupt, "WebP: the stream is damaged"};
  }
}

const std::uint8_t* octets(ByteSpan bytes) {
  return static_cast<const std::uint8_t*>(static_cast<const void*>(bytes.data()));
}

}  // namespace

Result<PictureInfo> inspect_webp(ByteSpan encoded, const DecodeLimits& limits) {
  WebPBitstreamFeatures features{};
  const auto status = WebPGetFeatures(octets(encoded), encoded.size(), &features);
  if (status != VP8_STATUS_OK) return webp_error(status, encoded.size());
  if (features.has_animation != 0) {
    return Error(Code::corrupt, "unsupported format animated WebP",
                 "store the picture that is meant as a still one");
  }
  const PictureInfo picture{PictureFormat::webp, static_cast<std::uint32_t>(features.width),
                            static_cast<std::uint32_t>(features.height)};
  if (std::uint64_t{picture.width} * picture.height > limits.pixels) {
    return Error(Code::exhausted, fmt::format("WebP: {} x {} pixels, the limit is {} pixels",
                                              picture.width, picture.height, limits.pixels));
  }
  return picture;
}

Result<PictureInfo> decode_webp(ByteSpan encoded, const DecodeLimits& limits,
                                std::vector<std::uint8_t>& rgb) {
  HEADRACE_TRY(const auto picture, inspect_webp(encoded, limits));
  rgb.resize(std::size_t{picture.width} * picture.height * 3);
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    return Error(Code::exhausted, "libwebp could not be set up");
  }
  config.output.colorspace = MODE_RGB;
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = rgb.data();
  config.output.u.RGBA.stride = static_cast<int>(picture.width * 3);
  config.output.u.RGBA.size = rgb.size();
  const auto status = WebPDecode(octets(encoded), encoded.size(), &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) return webp_error(status, encoded.size());
  return picture;
}

}  // namespace headrace
