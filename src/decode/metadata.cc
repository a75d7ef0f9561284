// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/metadata.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

namespace headrace {

namespace {

using namespace std::string_view_literals;

constexpr std::size_t kMostProfile = 4U << 20U;
constexpr std::string_view kExifName("Exif\0\0", 6);
constexpr std::string_view kXmpName("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr std::string_view kIccName("ICC_PROFILE\0", 12);

std::uint32_t byte_at(ByteSpan bytes, std::size_t at) {
  return std::to_integer<std::uint32_t>(bytes[at]);
}

/// Integers of either byte order. REQUIRES: at + count <= bytes.size()
std::uint32_t integer(ByteSpan bytes, std::size_t at, std::size_t count, bool big) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    value = value << 8U | byte_at(bytes, at + (big ? i : count - 1 - i));
  }
  return value;
}

bool starts_with(ByteSpan bytes, std::string_view text) {
  return bytes.size() >= text.size() && as_text(bytes.first(text.size())) == text;
}

/// Calls `take(marker, body)` for each segment before the first scan, until it returns false.
template <class Take>
void for_jpeg_segments(ByteSpan bytes, const Take& take) {
  std::size_t at = 2;
  while (at + 4 <= bytes.size()) {
    if (byte_at(bytes, at) != 0xff) {
      ++at;  // bytes between segments: libjpeg steps over them
      continue;
    }
    const std::uint32_t marker = byte_at(bytes, at + 1);
    if (marker == 0xff) {
      ++at;
      continue;
    }
    if (marker == 0 || marker == 1 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += 2;
      continue;
    }
    if (marker == 0xda || marker == 0xd9) return;
    const std::size_t length = integer(bytes, at + 2, 2, true);
    if (length < 2 || length > bytes.size() - at - 2) return;
    if (!take(marker, bytes.subspan(at + 4, length - 2))) return;
    at += 2 + length;
  }
}

/// Chunks of PNG and WebP: `take(name, body)`. Checksums are the decoder's to check.
template <class Take>
void for_chunks(PictureFormat format, ByteSpan bytes, const Take& take) {
  const bool png = format == PictureFormat::png;
  std::size_t at = png ? 8 : 12;
  const std::size_t behind = png ? 4 : 0;  // a checksum
  while (at + 8 <= bytes.size()) {
    const std::size_t length = integer(bytes, png ? at : at + 4, 4, png);
    if (length > bytes.size() - at - 8) return;
    const auto name = as_text(bytes.subspan(png ? at + 4 : at, 4));
    if (!take(name, bytes.subspan(at + 8, length))) return;
    const std::size_t padding = png ? 0 : length & 1U;
    if (bytes.size() - at - 8 - length < behind + padding) return;
    at += 8 + length + behind + padding;
  }
}

/// Tag 0x0112 of the first directory of a TIFF block.
std::optional<std::uint32_t> tiff_orientation(ByteSpan tiff) {
  constexpr std::uint32_t kTag = 0x0112;
  constexpr std::size_t kEntry = 12;
  if (tiff.size() < 8) return std::nullopt;
  const bool big = starts_with(tiff, "MM\0*"sv);
  if (!big && !starts_with(tiff, "II*\0"sv)) return std::nullopt;
  const std::size_t directory = integer(tiff, 4, 4, big);
  if (directory > tiff.size() - 2) return std::nullopt;
  const std::size_t entries = integer(tiff, directory, 2, big);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + i * kEntry;
    if (at + kEntry > tiff.size()) return std::nullopt;
    if (integer(tiff, at, 2, big) != kTag) continue;
    if (integer(tiff, at + 4, 4, big) != 1) return std::nullopt;
    switch (integer(tiff, at + 2, 2, big)) {
      case 1:  // BYTE, SHORT, LONG
        return integer(tiff, at + 8, 1, big);
      case 3:
        return integer(tiff, at + 8, 2, big);
      case 4:
        return integer(tiff, at + 8, 4, big);
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

/// tiff:Orientation="6", or as an element.
std::optional<std::uint32_t> xmp_orientation(ByteSpan xmp) {
  constexpr std::string_view kName = "tiff:Orientation";
  const auto text = as_text(xmp);
  for (auto at = text.find(kName); at != std::string_view::npos; at = text.find(kName, at + 1)) {
    auto rest = text.substr(at + kName.size());
    if (rest.starts_with("=\"") || rest.starts_with("='")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(">")) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0])) != 0) {
      return static_cast<std::uint32_t>(rest[0] - '0');
    }
  }
  return std::nullopt;
}

struct Says {
  bool exif_seen = false;
  std::optional<std::uint32_t> exif, xmp;

  void take_exif(ByteSpan block) {
    if (exif_seen) return;
    exif_seen = true;
    exif =
        tiff_orientation(starts_with(block, kExifName) ? block.subspan(kExifName.size()) : block);
  }
  void take_xmp(ByteSpan block) {
    if (!xmp) xmp = xmp_orientation(block);
  }
};

Says what_it_says(PictureFormat format, ByteSpan encoded) {
  Says says;
  if (format == PictureFormat::jpeg) {
    for_jpeg_segments(encoded, [&](std::uint32_t marker, ByteSpan body) {
      if (marker == 0xe1 && starts_with(body, kExifName)) says.take_exif(body);
      if (marker == 0xe1 && starts_with(body, kXmpName)) {
        says.take_xmp(body.subspan(kXmpName.size()));
      }
      return true;
    });
  } else if (format == PictureFormat::png || format == PictureFormat::webp) {
    for_chunks(format, encoded, [&](std::string_view name, ByteSpan body) {
      if (name == "eXIf" || name == "EXIF") says.take_exif(body);
      if (name == "XMP ") says.take_xmp(body);
      if (name == "iTXt" && starts_with(body, "XML:com.adobe.xmp\0\0"sv)) says.take_xmp(body);
      return true;
    });
  }
  return says;
}

/// Parts are numbered from 1 and may come in any order.
std::vector<std::byte> jpeg_profile(ByteSpan encoded) {
  std::array<ByteSpan, 256> parts{};
  std::size_t count = 0;
  std::size_t size = 0;
  for_jpeg_segments(encoded, [&](std::uint32_t marker, ByteSpan body) {
    if (marker != 0xe2 || body.size() < kIccName.size() + 2 || !starts_with(body, kIccName)) {
      return true;
    }
    const std::size_t number = byte_at(body, kIccName.size());
    count = std::max<std::size_t>(count, byte_at(body, kIccName.size() + 1));
    if (parts[number].empty()) {
      parts[number] = body.subspan(kIccName.size() + 2);
      size += parts[number].size();
    }
    return true;
  });
  if (size > kMostProfile) return {};
  std::vector<std::byte> profile;
  profile.reserve(size);
  for (std::size_t number = 1; number <= count; ++number) {
    if (parts[number].empty()) return {};
    profile.insert(profile.end(), parts[number].begin(), parts[number].end());
  }
  return profile;
}

/// iCCP: a name, a zero, the method, a zlib stream.
std::vector<std::byte> inflated_profile(ByteSpan chunk) {
  const auto text = as_text(chunk);
  const auto name = text.find('\0');
  if (name == std::string_view::npos || name + 2 > chunk.size()) return {};
  const ByteSpan packed = chunk.subspan(name + 2);
  std::vector<std::byte> profile(kMostProfile);
  auto size = static_cast<uLongf>(profile.size());
  const auto done = uncompress(static_cast<Bytef*>(static_cast<void*>(profile.data())), &size,
                               static_cast<const Bytef*>(static_cast<const void*>(packed.data())),
                               static_cast<uLong>(packed.size()));
  profile.resize(done == Z_OK ? size : 0);
  return profile;
}

}  // namespace

unsigned orientation_of(PictureFormat format, ByteSpan encoded) {
  const Says says = what_it_says(format, encoded);
  const auto value = says.exif ? *says.exif : says.xmp.value_or(1);
  return value >= 1 && value <= 8 ? value : 1;
}

std::vector<std::byte> colour_profile_of(PictureFormat format, ByteSpan encoded) {
  if (format == PictureFormat::jpeg) return jpeg_profile(encoded);
  std::vector<std::byte> profile;
  if (format != PictureFormat::png && format != PictureFormat::webp) return profile;
  for_chunks(format, encoded, [&](std::string_view name, ByteSpan body) {
    if (name == "iCCP") profile = inflated_profile(body);
    if (name == "ICCP" && body.size() <= kMostProfile) profile.assign(body.begin(), body.end());
    return profile.empty();
  });
  return profile;
}

Box Turned::from(const Box& box) const {
  const std::uint32_t w = stored_width_;
  const std::uint32_t h = stored_height_;
  Box stored = sideways() ? Box{box.top, box.left, box.height, box.width} : box;
  const bool mirror_x =
      orientation_ == 2 || orientation_ == 3 || orientation_ == 7 || orientation_ == 8;
  const bool mirror_y =
      orientation_ == 3 || orientation_ == 4 || orientation_ == 6 || orientation_ == 7;
  if (mirror_x) stored.left = w - stored.left - stored.width;
  if (mirror_y) stored.top = h - stored.top - stored.height;
  return stored;
}

}  // namespace headrace
