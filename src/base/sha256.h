// SPDX-License-Identifier: Apache-2.0
/// \file SHA-256, as listings and reports show it. Digests of delivery are base/digest.h.
#pragma once

#include <string>

#include "headrace/base/bytes.h"

namespace headrace {

/// 64 lower-case hexadecimal digits.
std::string sha256_hex(ByteSpan bytes);

}  // namespace headrace
