// SPDX-License-Identifier: Apache-2.0
/// \file A folder of the local file system as a Store, read by a small pool of threads.
///
/// Thread-safe. A pin is modification time and size, which is as much as a file has: a changed
/// file is `changed`, also if it changes while it is read. Example: open_store.h.
///
/// Keys are paths below the root, byte for byte. What a file system would read as another name
/// ("a//b", "./a", "../a", "/a", "a/") is `invalid`. Links are followed; a link to a folder that
/// holds it is left out of lists, so that they end. Only regular files are objects.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "headrace/base/context.h"
#include "headrace/storage/store.h"

namespace headrace {

struct LocalStoreOptions {
  /// Reads that run at once. They wait for the device, so it is a queue depth, not a core count.
  unsigned threads = 16;
  /// False: a file still appears whole or not at all, but a crash of the machine may lose it.
  /// For what can be made again, such as a fetched copy: two fsyncs a file are most of its time.
  bool durable = true;
  /// Once so many bytes were read, what the page cache does not hold is read past it (direct.h).
  /// Absent: the machine's memory, on disks of its own; never elsewhere.
  std::optional<std::uint64_t> direct_after = {};
  /// Of a file that is written and is durable: so many bytes go through the page cache, the rest
  /// past it (file_output.h). Absent: 32 MiB, on disks of its own; never elsewhere.
  std::optional<std::uint64_t> direct_writes_after = {};
};

/// A root that does not exist is made by the first `create`. Reads count as Metric::requests and
/// bytes_origin.
std::unique_ptr<Store> make_local_store(std::string root, const Context& context,
                                        const LocalStoreOptions& options = {});

}  // namespace headrace
