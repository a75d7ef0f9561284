// SPDX-License-Identifier: Apache-2.0
/// \file Finds the records of a container that has no index: reads it once, in stretches at the
/// same time.
///
/// Each stretch is walked from the first place in it that looks like a record's head, and the
/// walks are joined where one ends and the next has found a record. Where they do not meet (a
/// head inside a payload, damage), the stretch is walked again from where the one before ended:
/// so the result is that of one walk from the beginning, whatever the number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>

#include "headrace/base/notices.h"
#include "headrace/records/shard_index.h"
#include "headrace/records/step.h"
#include "headrace/storage/store.h"

namespace headrace {

struct ScanOptions {
  unsigned threads = 8;
  std::uint64_t stretch_bytes = 64U << 20U;     ///< at least; a multiple of 4
  std::atomic<std::uint64_t>* count = nullptr;  ///< of bytes that were read; may be null
  bool fresh = false;                           ///< past every cache
};

Result<ShardFrames> scan(Store& store, const ObjectInfo& object, const Framing& framing,
                         const ScanOptions& options, const std::stop_token& stop);

/// The same; but what looks damaged is read once more, past every cache, before it is called so: an
/// index that is kept would call it damaged for ever. Notice: "read-again", if it was not.
Result<ShardFrames> scan_surely(Store& store, const ObjectInfo& object, const Framing& framing,
                                const ScanOptions& options, Notices& notices,
                                const std::stop_token& stop);

/// The notice: `place` was damaged when it was read first, and was not past the caches.
void note_read_again(Notices& notices, const std::string& place, std::string_view why);

}  // namespace headrace
