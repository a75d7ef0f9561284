// SPDX-License-Identifier: Apache-2.0
/// \file What a picture's file says about how it is meant to be seen: its orientation and its
/// colour profile. Only read where a transform asks for it.
///
/// Thread-safe: pure functions. Damage in metadata is no damage of the picture: what cannot be read
/// is not there.
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/decoder.h"

namespace headrace {

/// 1–8 as in EXIF, 1 if the picture does not say or says anything else. The one rule, which is
/// Pillow's: the first EXIF block (JPEG APP1, PNG eXIf, WebP EXIF) decides by tag 0x0112 of its
/// first directory, of any integer type and count 1; if it has no such tag, XMP's tiff:Orientation.
unsigned orientation_of(PictureFormat format, ByteSpan encoded);

/// The embedded ICC profile; empty if there is none, if a part of it is missing, or if it is larger
/// than 4 MiB.
std::vector<std::byte> colour_profile_of(PictureFormat format, ByteSpan encoded);

/// Pixel (x, y) of the turned picture is pixel `from(x, y)` of the stored one.
class Turned {
 public:
  /// REQUIRES: orientation 1–8; width and height as stored
  Turned(unsigned orientation, std::uint32_t width, std::uint32_t height)
      : orientation_(orientation), stored_width_(width), stored_height_(height) {}

  bool sideways() const { return orientation_ >= 5; }
  std::uint32_t width() const { return sideways() ? stored_height_ : stored_width_; }
  std::uint32_t height() const { return sideways() ? stored_width_ : stored_height_; }
  /// The stored box that becomes `box` of the turned picture.
  Box from(const Box& box) const;

 private:
  unsigned orientation_;
  std::uint32_t stored_width_, stored_height_;
};

}  // namespace headrace
