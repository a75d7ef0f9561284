// SPDX-License-Identifier: Apache-2.0
/// \file A folder seen as one of its objects: `list` gives only that one; all else passes through.
///
/// Thread-safe, as the store below it.
#pragma once

#include <memory>
#include <string>

#include "headrace/storage/store.h"

namespace headrace {

std::unique_ptr<Store> make_single_store(std::unique_ptr<Store> folder, std::string key);

}  // namespace headrace
