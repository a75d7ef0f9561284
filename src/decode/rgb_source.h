// SPDX-License-Identifier: Apache-2.0
/// \file Where the pixels of a part of an encoded picture come from: the one place that chooses
/// a decoder. Ordinary JPEGs go through our own, which is exact and faster; whatever it does not
/// take, or does not find clean, goes to libjpeg-turbo, which has the last word.
///
/// Not thread-safe: one object a thread; it keeps handles and buffers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/jpeg/region.h"
#include "headrace/decode/jpeg_library.h"
#include "headrace/decode/part_rows.h"

namespace headrace {

class RgbSource {
 public:
  explicit RgbSource(const DecodeLimits& limits) : limits_(limits) {}

  /// Begins a picture; `encoded` must stay until the pixels are read. What was open before is
  /// forgotten. With `there` only these parts of it are looked at: what needs others is
  /// `unavailable`.
  Result<PictureInfo> open(ByteSpan encoded, std::span<const jpeg::ByteRun> there = {});

  /// The whole picture; the view is valid until the next call. REQUIRES: open succeeded
  Result<RgbView> whole();
  /// The part of the picture at `box`, row by row: exactly the pixels that `whole` would give
  /// there. The whole file is looked at all the same, so that
  /// a damaged picture is refused whatever its crop; unless `seek` holds an index that fits.
  /// REQUIRES: open succeeded
  Result<void> part(const Box& box, PartRows& rows, const SeekUse& seek);
  /// What the open picture's file says; for those who ask. REQUIRES: open succeeded
  unsigned orientation() const { return orientation_of(info_.format, encoded_); }
  std::vector<std::byte> colour_profile() const {
    return colour_profile_of(info_.format, encoded_);
  }
  /// A line for `warnings`.
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  /// Of the last `part`: how many of the encoded bytes were read, the index included.
  std::size_t bytes_touched() const { return touched_; }
  /// Nothing unless the open picture is one for our own decoder.
  std::optional<jpeg::Outline> outline() const {
    return fast_taken_ ? std::optional(fast_.outline()) : std::nullopt;
  }

  /// Of the picture that was opened last.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  /// By our own decoder; false if it does not find the data clean.
  bool fast_whole();
  bool fast_part(const Box& part, PartRows& rows, const SeekUse& seek);
  Result<void> jpeg_whole(std::size_t stride);
  Result<void> jpeg_part(const Box& part, PartRows& rows);

  DecodeLimits limits_;
  bool fast_taken_ = false;  ///< the open picture is one for fast_
  jpeg::RegionDecoder fast_;
  JpegLibrary jpeg_;
  ByteSpan encoded_;
  bool whole_there_ = true;
  PictureInfo info_;
  std::size_t touched_ = 0;
  std::vector<std::uint8_t> rgb_;
  std::vector<std::string> warnings_;
};

}  // namespace headrace
