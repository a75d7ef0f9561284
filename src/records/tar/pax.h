// SPDX-License-Identifier: Apache-2.0
/// \file The records of a pax header: "27 path=a/long/name.jpg\n". Pure functions.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::tar {

/// Keys and values in order, as views of `records`. Read by their lengths: values may hold
/// newlines. `corrupt` if lengths and bytes do not agree.
Result<std::vector<std::pair<std::string_view, std::string_view>>> parse_pax(ByteSpan records);

/// Decimal digits only. `corrupt` if it is none or above 2^63.
Result<std::uint64_t> parse_decimal(std::string_view text);

}  // namespace headrace::tar
