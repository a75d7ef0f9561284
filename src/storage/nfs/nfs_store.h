// SPDX-License-Identifier: Apache-2.0
/// \file An NFSv4 export as a Store, by a client of our own (libnfs): no mount, no root.
///
/// Thread-safe. A thread of the pool has a connection of its own: libnfs serves one request at a
/// time, and a server tells clients apart by name, so each has its own. A pin is modification time
/// and size, as for local files. A handle that the server does not know any more (ESTALE: it was
/// restarted, or the file replaced) is looked up again by its path, once. A connection that broke
/// is made anew. Read-only exports are read; writing needs an export that allows it.
///
/// Keys are paths below the root, as in local_store.h. Example: open_store.h.
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/context.h"
#include "headrace/base/uri.h"
#include "headrace/storage/store.h"

namespace headrace {

struct NfsOptions {
  unsigned connections = 16;  ///< reads at once
  /// 0: 2049, the port that NFSv4 has; else as in nfs://host:port/export.
  std::uint16_t port = 0;
  std::chrono::milliseconds timeout{20'000};  ///< of one request
};

struct OpenedNfs {
  std::unique_ptr<Store> store;
  std::string only_key;  ///< the URI named a file: its name; the root is the folder it lies in
};

/// `uri`: nfs://host[:port]/export/path. The first connection is made now.
///  * not_found     no such export or folder (unless `root_may_be_missing`)
///  * denied        the server refuses this client
///  * unavailable   nobody answers at that port
Result<OpenedNfs> open_nfs_store(const Uri& uri, bool root_may_be_missing, const Context& context,
                                 const NfsOptions& options, const std::stop_token& stop);

}  // namespace headrace
