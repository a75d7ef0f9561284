// SPDX-License-Identifier: Apache-2.0
/// \file `headrace inspect PICTURE --decode`: does it decode, to what, and if not, why.
#pragma once

#include <string>

#include "headrace/base/result.h"

namespace headrace::app {

/// Prints one line of JSON, or some lines for a person. 0 if the picture decodes, 1 if not; an
/// error if the file cannot be read.
Result<int> inspect_picture(const std::string& path, bool json);

}  // namespace headrace::app
