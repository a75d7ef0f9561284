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

#include "headrace/records/shard_index.h"
#include "headrace/records/step.h"
#include "headrace/storage/store.h"

namespace headrace {

struct ScanOptions {
  unsigned threads = 8;
  std::uint64_t stretch_bytes = 64U << 20U;     ///< at least; a multiple of 4
  std::atomic<std::uint64_t>* count = nullptr;  ///< of bytes that were read; may be null
};

Result<ShardFrames> scan(Store& store, const ObjectInfo& object, const Framing& framing,
                         const ScanOptions& options, const std::stop_token& stop);

}  // namespace headrace
