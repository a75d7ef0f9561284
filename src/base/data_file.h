// SPDX-License-Identifier: Apache-2.0
/// \file Where the dated data files (media, prices) lie. Pure look-ups; thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

/// The path of `name` ("media.yaml"): in $HEADRACE_DATA_DIR if that is set, and nowhere else
/// then; else beside the program (../../data of a build tree, ../share/headrace/data of an
/// installation); else in the source tree it was built from. `not_found` names the places.
Result<std::string> find_data_file(std::string_view name);

}  // namespace headrace
