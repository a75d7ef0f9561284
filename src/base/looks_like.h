// SPDX-License-Identifier: Apache-2.0
/// \file What bytes that should have been something else seem to be, for messages. Pure.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace {

/// "a page of HTML", "a pointer of Git LFS", …; empty if their first bytes tell nothing.
std::string_view looks_like(ByteSpan bytes);

/// `it begins with 3c 68 74 6d 6c 3e 3c 68 ("<html><h"), which looks like a page of HTML`.
/// REQUIRES: there are bytes
std::string begins_with_what(ByteSpan bytes);

}  // namespace headrace
