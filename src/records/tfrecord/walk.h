// SPDX-License-Identifier: Apache-2.0
/// \file From one record's head to the next, by the lengths and their CRCs; and past damage.
///
/// A head is a length whose CRC is right and whose record is there in full, at any offset: there
/// is no magic. By chance a place looks like one once in 2^32 tries, of which few have a length
/// that fits. The CRC of the data is looked at where no head follows a record: it tells whether
/// bytes of this record are missing or only the next head is damaged. Else it is left to `unframe`,
/// so that what is wrong with data, or with memory they passed through, is never kept in an index.
#pragma once

#include <cstdint>

#include "headrace/records/byte_source.h"
#include "headrace/records/step.h"

namespace headrace::tfrecord {

/// As Framing has them.
Result<Step> step(Window& window, std::uint64_t begin, bool keep);
Result<std::uint64_t> find_head(Window& window, std::uint64_t from);

inline constexpr Framing kFraming = {.step = step, .find_head = find_head};

}  // namespace headrace::tfrecord
