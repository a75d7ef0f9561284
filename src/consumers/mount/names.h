// SPDX-License-Identifier: Apache-2.0
/// \file Which parts of keys can be names of a file system. Pure; thread-safe.
#pragma once

#include <cstddef>
#include <string_view>

namespace headrace::mount {

/// What Linux takes for one name, in bytes.
inline constexpr std::size_t kLongestName = 255;

/// Empty if `name` can be shown; else why not: what stands under such a name is hidden, counted
/// and said once. Keys like "a//b", "a/../b" and "a/" (with content) have parts of this kind.
std::string_view why_hidden(std::string_view name);

}  // namespace headrace::mount
