// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/rgb_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/decode/png_picture.h"
#include "headrace/decode/webp_picture.h"

namespace headrace {

namespace {

std::string_view display_name(PictureFormat format) {
  switch (format) {
    case PictureFormat::gif:
      return "GIF";
    case PictureFormat::bmp:
      return "BMP";
    case PictureFormat::tiff:
      return "TIFF";
    case PictureFormat::heif:
      return "HEIF or AVIF";
    case PictureFormat::jpeg2000:
      return "JPEG 2000";
    default:
      return "picture";
  }
}

Error not_decodable(ByteSpan bytes, PictureFormat format) {
  if (format != PictureFormat::unknown) {
    return {Code::corrupt, fmt::format("unsupported format {}", display_name(format)),
            "store it as JPEG, PNG or WebP"};
  }
  if (bytes.empty()) return {Code::corrupt, "empty: 0 bytes"};
  std::string start;
  for (const auto byte : bytes.first(std::min<std::size_t>(bytes.size(), 8))) {
    start += fmt::format(" {:02x}", std::to_integer<int>(byte));
  }
  return {Code::corrupt, fmt::format("not a picture in a known format: it starts with{}", start),
          "store it as JPEG, PNG or WebP"};
}

}  // namespace

Result<PictureInfo> RgbSource::inspect(ByteSpan encoded) {
  const auto format = sniff(encoded);
  switch (format) {
    case PictureFormat::jpeg:
      return jpeg_.inspect(encoded, limits_);
    case PictureFormat::png:
      return inspect_png(encoded, limits_);
    case PictureFormat::webp:
      return inspect_webp(encoded, limits_);
    default:
      return not_decodable(encoded, format);
  }
}

std::optional<RgbView> RgbSource::fast_part(ByteSpan encoded, const Box& box) {
  if (!fast_.open(encoded).empty()) return std::nullopt;
  if (std::uint64_t{fast_.width()} * fast_.height() > limits_.pixels) return std::nullopt;
  const std::size_t stride = std::size_t{box.width} * 3;
  if (rgb_.size() < stride * box.height) rgb_.resize(stride * box.height);
  if (!fast_.decode(box, rgb_.data(), stride)) return std::nullopt;
  return RgbView{rgb_.data(), stride, box.width, box.height};
}

std::optional<RgbView> RgbSource::fast_whole(ByteSpan encoded) {
  if (!fast_.open(encoded).empty()) return std::nullopt;
  return fast_part(encoded, {0, 0, fast_.width(), fast_.height()});
}

Result<RgbView> RgbSource::whole(ByteSpan encoded, std::vector<std::string>& warnings) {
  const auto format = sniff(encoded);
  if (format == PictureFormat::jpeg) {
    if (const auto view = fast_whole(encoded)) return *view;
  }
  Result<PictureInfo> decoded = PictureInfo{};
  switch (format) {
    case PictureFormat::jpeg:
      decoded = jpeg_.decode(encoded, limits_, rgb_, warnings);
      break;
    case PictureFormat::png:
      decoded = decode_png(encoded, limits_, rgb_, warnings);
      break;
    case PictureFormat::webp:
      decoded = decode_webp(encoded, limits_, rgb_);
      break;
    default:
      return not_decodable(encoded, format);
  }
  HEADRACE_TRY(const auto picture, std::move(decoded));
  return RgbView{rgb_.data(), std::size_t{picture.width} * 3, picture.width, picture.height};
}

Result<RgbView> RgbSource::part(ByteSpan encoded, const Box& box,
                                std::vector<std::string>& warnings) {
  if (sniff(encoded) == PictureFormat::jpeg) {
    if (const auto view = fast_part(encoded, box)) return *view;
  }
  HEADRACE_TRY(const auto picture, whole(encoded, warnings));
  return RgbView{picture.pixels + box.top * picture.stride + std::size_t{box.left} * 3,
                 picture.stride, box.width, box.height};
}

}  // namespace headrace
