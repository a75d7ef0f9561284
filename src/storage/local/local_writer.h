// SPDX-License-Identifier: Apache-2.0
/// \file A file that appears whole or not at all: temporary name, fsync, rename, fsync of folder.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/store.h"

namespace headrace::local {

/// Makes the folders on the way. REQUIRES: check_key(key)
Result<std::unique_ptr<ObjectWriter>> create_file(const std::string& root, const std::string& key);

}  // namespace headrace::local
