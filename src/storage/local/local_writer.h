// SPDX-License-Identifier: Apache-2.0
/// \file A file that appears whole or not at all: temporary name, rename, and fsync of both if
/// asked.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "headrace/storage/local/file_output.h"
#include "headrace/storage/store.h"

namespace headrace::local {

enum class Durable { no, yes };

/// Makes the folders on the way. `direct_after`: as FileOutput has it. REQUIRES: check_key(key)
Result<std::unique_ptr<ObjectWriter>> create_file(const std::string& root, const std::string& key,
                                                  Durable durable,
                                                  std::uint64_t direct_after = FileOutput::kNever);

}  // namespace headrace::local
