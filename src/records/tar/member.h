// SPDX-License-Identifier: Apache-2.0
/// \file How members of a tar are written; and how samples are named so that they stay apart.
///
/// Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"

namespace headrace::tar {

/// Appends headers, data and padding of a file. REQUIRES: the name has no zero byte
void append_member(std::string_view name, ByteSpan data, std::vector<std::byte>& out);

/// Appends what ends an archive of `size` bytes: zeros up to a whole record of 10,240.
void append_end(std::uint64_t size, std::vector<std::byte>& out);

struct SampleName {
  std::string key;      ///< of members and of no other sample beside it
  std::string picture;  ///< the picture's suffix: "jpg", "JPEG"
};

/// From the path that the source has for the sample, where readers would split it as it is meant;
/// else with the sample's number. `previous` is the key of the sample before it.
SampleName name_sample(std::string_view file, std::uint64_t id, ByteSpan picture,
                       std::string_view previous);

/// A label as the text of `cls`; empty if it is no whole number.
std::string cls_text(std::span<const float> labels);
/// All labels as the text of `json`.
std::string json_text(std::span<const float> labels);

}  // namespace headrace::tar
