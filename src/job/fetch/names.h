// SPDX-License-Identifier: Apache-2.0
/// \file Which keys can be file names: pure functions.
#pragma once

#include <string_view>

#include "headrace/base/result.h"
#include "headrace/records/object_index.h"

namespace headrace::fetching {

/// Why a folder cannot hold this key; empty if it can.
std::string_view unfit(std::string_view key);

/// `invalid`, with the first unfit keys and how many there are. An object "a" beside "a/b" cannot
/// be both file and folder.
Result<void> check_names(const ObjectIndex& objects);

}  // namespace headrace::fetching
