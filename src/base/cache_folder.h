// SPDX-License-Identifier: Apache-2.0
/// \file Where a user's programs keep what they can make again. A function.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

/// What the environment's `variable` names, else `name` in $XDG_CACHE_HOME, else in ~/.cache (XDG
/// Base Directory Specification); empty if none of them is set.
std::string cache_folder(const char* variable, std::string_view name);

}  // namespace headrace
