// SPDX-License-Identifier: Apache-2.0
/// \file How many processors this process may use: its affinity and its control group's limit,
/// not what the machine has. Thread-safe.
#pragma once

namespace headrace {

/// At least 1.
unsigned processors();

}  // namespace headrace
