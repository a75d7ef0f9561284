// SPDX-License-Identifier: Apache-2.0
/// \file libjpeg-turbo as a value that succeeds or fails: its longjmp never leaves this file's
/// source, and its messages never reach a terminal.
///
/// Not thread-safe: one object a thread. The library takes its working memory from malloc, once
/// a picture; everything of ours is kept.
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

  Result<PictureInfo> inspect(ByteSpan encoded, const DecodeLimits& limits);
  /// The whole picture by the accurate DCT and fancy upsampling, 8-bit RGB, into `rgb`, which
  /// grows as needed. One line for each kind of warning is added to `warnings`.
  Result<PictureInfo> decode(ByteSpan encoded, const DecodeLimits& limits,
                             std::vector<std::uint8_t>& rgb, std::vector<std::string>& warnings);

 private:
  struct Engine;
  Error failure(std::size_t size) const;

  std::unique_ptr<Engine> engine_;
  std::vector<std::uint8_t> cmyk_row_;
};

}  // namespace headrace
