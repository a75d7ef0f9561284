// SPDX-License-Identifier: Apache-2.0
/// \file Whether a file can be written at its place, asked before long work that ends in one.
///
/// A function without a trace; thread-safe. It may be too late by the time of the writing.
#pragma once

#include <string>

#include "headrace/base/result.h"

namespace headrace {

/// Missing folders above it are taken for ones that the writer makes.
///  * the error that the writing would meet: `denied`, `not_found` (a file where a folder should
///    be), `invalid` (a folder of that name)
Result<void> check_can_write(const std::string& file);

}  // namespace headrace
