// SPDX-License-Identifier: Apache-2.0
/// \file Runs of table entries that differ by their values only: what building tables spends its
/// time with. Pure functions; thread-safe; vectors by Highway.
#pragma once

#include <cstddef>

#include "headrace/decode/jpeg/lane_tables.h"
#include "headrace/decode/jpeg/pair_tables.h"

namespace headrace::jpeg {

/// out[i] = `first` with both its values greater by i >> shift. `size` is a power of two.
void fill_values(Entry first, unsigned shift, std::size_t size, Entry* out);

/// out[i] = `first` alone where seconds[i] is 0, else `first` and seconds[i] as one entry.
void fill_pairs(Entry first, const Entry* seconds, std::size_t size, Entry* out);

/// The same for lane_tables.h. out[i] = `first` with its first value greater by i >> shift.
void fill_lane_values(LaneEntry first, unsigned shift, std::size_t size, LaneEntry* out);

/// And pairs, whose values stand relative to the first one's advance. A second one
/// that stands too far away is left out.
void fill_lane_pairs(LaneEntry first, const LaneEntry* seconds, std::size_t size, LaneEntry* out);

}  // namespace headrace::jpeg
