// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "headrace/decode/decoder.h"

namespace headrace {

namespace {

bool begins_with(ByteSpan bytes, std::string_view text, std::size_t at = 0) {
  return bytes.size() >= at + text.size() && as_text(bytes.subspan(at, text.size())) == text;
}

bool is_heif(ByteSpan bytes) {
  // An ISO media file; the brand tells the codec: HEVC (heic, heix, mif1, ...) or AV1 (avif, avis).
  static constexpr std::array<std::string_view, 9> kBrands{"heic", "heix", "hevc", "hevx", "heim",
                                                           "mif1", "msf1", "avif", "avis"};
  if (!begins_with(bytes, "ftyp", 4)) return false;
  for (const auto brand : kBrands) {
    if (begins_with(bytes, brand, 8)) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(PictureFormat format) {
  switch (format) {
    case PictureFormat::unknown:
      return "unknown";
    case PictureFormat::jpeg:
      return "jpeg";
    case PictureFormat::png:
      return "png";
    case PictureFormat::webp:
      return "webp";
    case PictureFormat::gif:
      return "gif";
    case PictureFormat::bmp:
      return "bmp";
    case PictureFormat::tiff:
      return "tiff";
    case PictureFormat::heif:
      return "heif";
    case PictureFormat::jpeg2000:
      return "jpeg2000";
  }
  return "unknown";
}

PictureFormat sniff(ByteSpan bytes) {
  using namespace std::string_view_literals;
  if (begins_with(bytes, "\xff\xd8"sv)) return PictureFormat::jpeg;
  if (begins_with(bytes, "\x89PNG\r\n\x1a\n"sv)) return PictureFormat::png;
  if (begins_with(bytes, "RIFF"sv) && begins_with(bytes, "WEBP"sv, 8)) return PictureFormat::webp;
  if (begins_with(bytes, "GIF87a"sv) || begins_with(bytes, "GIF89a"sv)) return PictureFormat::gif;
  if (begins_with(bytes, "BM"sv)) return PictureFormat::bmp;
  if (begins_with(bytes, "II*\0"sv) || begins_with(bytes, "MM\0*"sv)) return PictureFormat::tiff;
  if (is_heif(bytes)) return PictureFormat::heif;
  if (begins_with(bytes, "\0\0\0\x0cjP  \r\n\x87\n"sv) ||
      begins_with(bytes, "\xff\x4f\xff\x51"sv)) {
    return PictureFormat::jpeg2000;
  }
  return PictureFormat::unknown;
}

}  // namespace headrace
