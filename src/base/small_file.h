// SPDX-License-Identifier: Apache-2.0
/// \file A file that is read whole, because it is small: states, settings, one picture. What turns
/// out not to be is refused, so that /dev/zero by mistake is an error at once. Thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "headrace/base/result.h"

namespace headrace {

/// Settings and states: far more than any has.
inline constexpr std::uint64_t kSmallFile = 16U << 20U;

/// A pipe is read too, to its end.
///  * `invalid`   a folder; or it goes on beyond `limit` bytes
Result<std::string> read_small_file(const std::string& path, std::uint64_t limit = kSmallFile);

}  // namespace headrace
