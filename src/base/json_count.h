// SPDX-License-Identifier: Apache-2.0
/// \file A count, size or number in JSON from outside.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>

namespace headrace {

/// The value, if it is an integer from 0 to 2^64 - 1, else nlohmann's type_error. get<uint64_t>()
/// takes fractions and negative numbers, too, and what it makes of 2e19 is undefined.
inline std::uint64_t json_count(const nlohmann::json& value) {
  return value.get_ref<const nlohmann::json::number_unsigned_t&>();
}

}  // namespace headrace
