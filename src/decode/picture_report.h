// SPDX-License-Identifier: Apache-2.0
/// \file What can be said about one encoded picture: does it decode, to what, and if not, why.
///
/// Thread-safe: a pure function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/decoder.h"

namespace headrace {

struct PictureReport {
  std::uint32_t width = 0;  ///< 0 if not even the header could be read
  std::uint32_t height = 0;
  PictureFormat format = PictureFormat::unknown;
  bool decodes = false;
  std::string rgb_sha256;  ///< of width × height × 3 bytes; empty if rejected
  std::vector<std::string> warnings;
  std::string reason;  ///< why it is rejected; empty if it decodes
};

PictureReport report_picture(ByteSpan encoded, const DecodeLimits& limits = {});

}  // namespace headrace
