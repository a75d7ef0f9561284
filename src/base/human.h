// SPDX-License-Identifier: Apache-2.0
/// \file Numbers as people read them. Pure.
#pragma once

#include <string>

namespace headrace {

/// "1.2 GB", "17 kB".
std::string human_bytes(double bytes);
/// "2:05", "1:03:20".
std::string human_time(double seconds);

}  // namespace headrace
