// SPDX-License-Identifier: Apache-2.0
/// \file libjpeg-turbo as a value that succeeds or fails: its longjmp never leaves this file's
/// source, and its messages never reach a terminal.
///
/// Not thread-safe: one object a thread. The library takes its working memory from malloc, once
/// a picture; everything of ours is kept. Example:
///
///     HEADRACE_TRY(auto info, jpeg.open(bytes, limits));
///     for (std::uint32_t y = 0; y < info.height;) {
///       HEADRACE_TRY(auto rows, jpeg.read(rgb + y * stride, stride, info.height - y));
///       y += rows;
///     }
///     HEADRACE_TRY(jpeg.finish());
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/decode/decoder.h"

namespace headrace {

class JpegLibrary {
 public:
  JpegLibrary();
  JpegLibrary(const JpegLibrary&) = delete;
  JpegLibrary& operator=(const JpegLibrary&) = delete;
  ~JpegLibrary();

  /// Begins a picture: reads its header. `encoded` must stay until `finish`; limits hold for all.
  Result<PictureInfo> open(ByteSpan encoded, const DecodeLimits& limits);

  /// The next rows, by the accurate DCT and fancy upsampling, as 8-bit RGB: up to `count`, at
  /// least one. REQUIRES: the picture is open, and has rows left
  Result<std::uint32_t> read(std::uint8_t* rgb, std::size_t stride, std::uint32_t count);
  /// After the last row: reads to the end of the file, since damage there counts as well.
  Result<void> finish();

  /// One line for each kind of warning so far.
  void add_warnings(std::vector<std::string>& warnings) const;

 private:
  struct Engine;
  Error failure() const;

  std::unique_ptr<Engine> engine_;
  std::size_t size_ = 0;  // of the picture
  bool started_ = false;
  bool cmyk_ = false;
  std::vector<std::uint8_t> cmyk_row_;
};

}  // namespace headrace
