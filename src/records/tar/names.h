// SPDX-License-Identifier: Apache-2.0
/// \file WebDataset's rules for names: which members make a sample, and what each is in it.
///
/// Pure functions. Source: webdataset `tariterators.py`, as vectors/webdataset shows it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace::tar {

struct MemberName {
  std::string_view key;  ///< of the sample: folder and stem, "a/b"
  std::string field;     ///< all after the first dot of the base name, in lower case: "seg.png"
};

/// Nothing for names that belong to no sample: without a dot, "__meta__", and what macOS leaves
/// ("._7.jpg", ".DS_Store"), which webdataset would take for samples or cut one in two by.
std::optional<MemberName> split_name(std::string_view name);

/// True for what macOS leaves beside every file.
bool is_macos_junk(std::string_view name);

}  // namespace headrace::tar
