// SPDX-License-Identifier: Apache-2.0
/// \file The media that `--medium` knows: each figure with its source, and whether it is verified.
#pragma once

#include "headrace/base/result.h"

namespace headrace::app {

/// Prints them, and returns the exit code.
Result<int> inspect_media(bool json);

}  // namespace headrace::app
