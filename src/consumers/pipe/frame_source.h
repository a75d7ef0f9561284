// SPDX-License-Identifier: Apache-2.0
/// \file RecordIO frames from a FIFO, whole and as they came.
///
/// Not thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "headrace/consumers/pipe/fifo.h"

namespace headrace::pipe {

/// Appends the next record's frame, all of its parts.
///  * true         a frame
///  * false        the stream ended cleanly, between records
///  * unavailable  it ended inside a record: the writer failed
///  * invalid      the bytes are no RecordIO; they are shown
Result<bool> read_frame(FifoReader& fifo, std::vector<std::byte>& frame);

/// The length of the first frame in `frames`. REQUIRES: read_frame made them
std::size_t first_frame_bytes(ByteSpan frames);

}  // namespace headrace::pipe
