// SPDX-License-Identifier: Apache-2.0
/// \file The threads of the node cache: who waits for what. Inside the room; keep_store.h is the
/// page to read.
///
/// A read is in one of five places: at the origin (a flight, joined by later reads of the same
/// range), parked until the disk has caught up, in the queue of the pool that reads the disk,
/// waiting to be written (and served from memory meanwhile), or done. No thread waits for another
/// one's read.
#pragma once

#include <memory>

#include "headrace/storage/keep/disk.h"
#include "headrace/storage/keep/keep_store.h"

namespace headrace::keep {

/// The same as make_keep_store, on any disk. `options.dir` is not looked at.
Result<std::unique_ptr<KeepStore>> make_keep_store_on(std::unique_ptr<Disk> disk, Store& base,
                                                      const KeepOptions& options,
                                                      const Context& context);

}  // namespace headrace::keep
