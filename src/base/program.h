// SPDX-License-Identifier: Apache-2.0
/// \file Other programs of this machine. Thread-safe, as long as nothing sets PATH meanwhile.
#pragma once

#include <optional>
#include <string>

namespace headrace {

/// A file that this user may execute.
bool is_program(const std::string& path);

/// The path of the program that a shell would start by this name: itself, if it has a '/', else the
/// first on PATH.
std::optional<std::string> find_program(const std::string& name);

}  // namespace headrace
