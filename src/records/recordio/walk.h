// SPDX-License-Identifier: Apache-2.0
/// \file From one record's head to the next, by headers alone; and past damage.
///
/// Heads stand at multiples of 4. What looks like one: the magic, and a flag that begins a record.
#pragma once

#include <cstdint>

#include "headrace/records/byte_source.h"
#include "headrace/records/step.h"

namespace headrace::recordio {

/// As Framing has them. REQUIRES: begin is a multiple of 4
Result<Step> step(Window& window, std::uint64_t begin, bool keep);
Result<std::uint64_t> find_head(Window& window, std::uint64_t from);

inline constexpr Framing kFraming = {.step = step, .find_head = find_head};

}  // namespace headrace::recordio
