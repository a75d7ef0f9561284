// SPDX-License-Identifier: Apache-2.0
/// \file RGB pixels become a JPEG, by libjpeg-turbo: baseline, 4:2:0, accurate DCT, its standard
/// Huffman tables. Equal pixels and quality give equal bytes with one version of the library.
///
/// Thread-safe: a function.
#pragma once

#include <cstddef>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/decode/resize.h"

namespace headrace {

///  * `invalid`   a side is 0 or above 65,500, which no JPEG can have
Result<std::vector<std::byte>> encode_jpeg(const RgbView& picture, int quality);

}  // namespace headrace
