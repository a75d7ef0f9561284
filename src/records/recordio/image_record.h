// SPDX-License-Identifier: Apache-2.0
/// \file What MXNet puts into a record: 24 bytes of header, labels, an encoded picture.
///
/// Pure functions; bytes in FORMAT.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::recordio {

struct ImageRecord {
  std::uint32_t flag = 0;  ///< how many labels stand behind the header; 0: one, in it
  float header_label = 0;
  std::uint64_t id = 0;
  std::uint64_t id2 = 0;
  std::vector<float> labels;  ///< never empty: the list if there is one, else the header's
  Bytes image;                ///< shares the record's block; may be empty
};

///  * `corrupt`   the record is shorter than its header or its labels
Result<ImageRecord> parse_image_record(const Bytes& record);

/// The bytes that stand before the picture. One label goes into the header, several behind it;
/// `as_list` writes one behind it too.
std::vector<std::byte> image_header(std::span<const float> labels, std::uint64_t id,
                                    std::uint64_t id2 = 0, bool as_list = false);

}  // namespace headrace::recordio
