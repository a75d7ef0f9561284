// SPDX-License-Identifier: Apache-2.0
/// \file A file that appears whole or not at all: temporary name, rename, and fsync of both if
/// asked.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/store.h"

namespace headrace::local {

enum class Durable { no, yes };

/// Makes the folders on the way. REQUIRES: check_key(key)
Result<std::unique_ptr<ObjectWriter>> create_file(const std::string& root, const std::string& key,
                                                  Durable durable);

}  // namespace headrace::local
