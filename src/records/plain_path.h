// SPDX-License-Identifier: Apache-2.0
/// \file Which names out of a container may become a place in a folder.
///
/// Pure functions.
#pragma once

#include <string_view>

namespace headrace {

/// True for a relative path with a folder in it, "cat/7.jpg", none of whose parts is empty, "." or
/// "..": what a container says must not lead out of the folder that is written.
bool is_plain_path(std::string_view name);

}  // namespace headrace
