// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/rgb_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/base/looks_like.h"
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
  return {Code::corrupt, "not a picture in a known format: " + begins_with_what(bytes),
          "store it as JPEG, PNG or WebP"};
}

Error not_enough() { return {Code::unavailable, "more of the picture is needed than is there"}; }

}  // namespace

Result<PictureInfo> RgbSource::open(ByteSpan encoded, std::span<const jpeg::ByteRun> there) {
  encoded_ = encoded;
  whole_there_ = there.empty();
  warnings_.clear();
  fast_taken_ = false;
  touched_ = encoded.size();
  const auto format = sniff(encoded);
  if (!whole_there_ && format != PictureFormat::jpeg) return not_enough();
  Result<PictureInfo> info = PictureInfo{};
  switch (format) {
    case PictureFormat::jpeg:
      fast_taken_ = !limits_.library_only && fast_.open(encoded, there).empty() &&
                    std::uint64_t{fast_.width()} * fast_.height() <= limits_.pixels;
      if (fast_taken_) {
        info = PictureInfo{PictureFormat::jpeg, fast_.width(), fast_.height()};
      } else if (!whole_there_) {
        return not_enough();
      } else {
        info = jpeg_.open(encoded, limits_);
      }
      break;
    case PictureFormat::png:
      info = inspect_png(encoded, limits_);
      break;
    case PictureFormat::webp:
      info = inspect_webp(encoded, limits_);
      break;
    default:
      return not_decodable(encoded, format);
  }
  if (info) info_ = *info;
  return info;
}

Result<RgbView> RgbSource::whole() {
  if (!whole_there_) return not_enough();
  const std::size_t stride = std::size_t{info_.width} * 3;
  if (info_.format == PictureFormat::png) {
    HEADRACE_TRY(decode_png(encoded_, limits_, rgb_, warnings_));
  } else if (info_.format == PictureFormat::webp) {
    HEADRACE_TRY(decode_webp(encoded_, limits_, rgb_));
  } else if (!fast_taken_ || !fast_whole()) {
    auto done = jpeg_whole(stride);
    jpeg_.add_warnings(warnings_);
    HEADRACE_TRY(std::move(done));
  }
  return RgbView{rgb_.data(), stride, info_.width, info_.height};
}

bool RgbSource::fast_whole() {
  const std::size_t stride = std::size_t{info_.width} * 3;
  rgb_.resize(stride * info_.height);
  return fast_.decode({0, 0, info_.width, info_.height}, rgb_.data(), stride);
}

bool RgbSource::fast_part(const Box& part, PartRows& rows, const SeekUse& seek) {
  if (!seek.index.empty()) {
    if (fast_.decode_indexed(part, rows, seek.index, seek.payload)) {
      touched_ = fast_.bytes_touched() + seek.index.size();
      return true;
    }
    rows.restart();
  }
  if (!fast_.decode(part, rows, seek.record != nullptr ? fast_.interval() : 0)) return false;
  if (seek.record != nullptr) *seek.record = fast_.seek_index(seek.payload);
  return true;
}

Result<void> RgbSource::jpeg_whole(std::size_t stride) {
  if (fast_taken_) HEADRACE_TRY(jpeg_.open(encoded_, limits_));
  rgb_.resize(stride * info_.height);
  for (std::uint32_t y = 0; y < info_.height;) {
    HEADRACE_TRY(const auto rows, jpeg_.read(rgb_.data() + y * stride, stride, info_.height - y));
    y += rows;
  }
  return jpeg_.finish();
}

Result<void> RgbSource::part(const Box& box, PartRows& rows, const SeekUse& seek) {
  if (seek.record != nullptr) seek.record->clear();
  if (info_.format == PictureFormat::jpeg) {
    if (fast_taken_) {
      if (fast_part(box, rows, seek)) {
        rows.finish();
        return {};
      }
      if (!whole_there_) return not_enough();
      rows.restart();
    }
    auto done = jpeg_part(box, rows);
    jpeg_.add_warnings(warnings_);
    HEADRACE_TRY(std::move(done));
    rows.finish();
    return {};
  }
  HEADRACE_TRY(const auto picture, whole());
  for (std::size_t y = box.top; y < box.top + box.height; ++y) {
    rows.rgb_row(picture.pixels + y * picture.stride + std::size_t{box.left} * 3);
  }
  rows.finish();
  return {};
}

// A few rows at a time: they are resized while they are in the cache, and no picture is held.
Result<void> RgbSource::jpeg_part(const Box& part, PartRows& rows) {
  constexpr std::uint32_t kRows = 16;
  if (fast_taken_) HEADRACE_TRY(jpeg_.open(encoded_, limits_));
  const std::size_t stride = std::size_t{info_.width} * 3;
  if (rgb_.size() < kRows * stride) rgb_.resize(kRows * stride);
  for (std::uint32_t y = 0; y < info_.height;) {
    HEADRACE_TRY(const auto read,
                 jpeg_.read(rgb_.data(), stride, std::min(kRows, info_.height - y)));
    for (std::uint32_t i = 0; i < read; ++i, ++y) {
      if (y >= part.top && y < part.top + part.height) {
        rows.rgb_row(rgb_.data() + i * stride + std::size_t{part.left} * 3);
      }
    }
  }
  return jpeg_.finish();
}

}  // namespace headrace
