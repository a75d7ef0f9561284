// SPDX-License-Identifier: Apache-2.0
/// \file The files that travel inside the program: data/ of the project.
///
/// They are put there by embed() of cmake/Embed.cmake and live as long as the program.
#pragma once

#include <string_view>

namespace headrace::embedded {

extern const std::string_view prices_yaml;         ///< data/prices.yaml
extern const std::string_view manageability_yaml;  ///< data/manageability.yaml

}  // namespace headrace::embedded
