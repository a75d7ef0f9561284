// SPDX-License-Identifier: Apache-2.0
/// \file Of known names the one that a wrong one may be meant for. Pure.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace headrace::advisor {

/// The known name that takes the fewest letters to change, add or leave out, if these are two at
/// most or `given` is its beginning. REQUIRES: known is not empty
std::optional<std::string_view> nearest(std::string_view given,
                                        std::span<const std::string_view> known);

}  // namespace headrace::advisor
