// SPDX-License-Identifier: Apache-2.0
/// \file From one sample to the next, by headers alone; and past damage.
///
/// A sample is a run of members of one key; entries among them that belong to no sample (folders,
/// links, what macOS leaves) lie in its frame. Frames begin at multiples of 512.
#pragma once

#include <cstdint>

#include "headrace/records/byte_source.h"
#include "headrace/records/step.h"
#include "headrace/records/tar/entry.h"

namespace headrace::tar {

/// As Framing has it.
Result<Step> step(Window& window, std::uint64_t begin, bool keep);

inline constexpr Framing kFraming = {.step = step, .find_head = find_head};

}  // namespace headrace::tar
