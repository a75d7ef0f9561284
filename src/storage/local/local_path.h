// SPDX-License-Identifier: Apache-2.0
/// \file Keys and what the file system says about files: pure functions.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "headrace/storage/store.h"

namespace headrace::local {

/// Names of files that are still being written begin so; lists leave them out.
inline constexpr std::string_view kTemporary = ".headrace-tmp-";

/// `invalid` unless the key names exactly one file below the root.
Result<void> check_key(std::string_view key);

/// root + '/' + key.
std::string path_of(std::string_view root, std::string_view key);

Pin pin_of(const struct stat& status);

}  // namespace headrace::local
