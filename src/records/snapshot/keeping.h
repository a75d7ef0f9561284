// SPDX-License-Identifier: Apache-2.0
/// \file Where snapshots are kept, and whether one is used again. Functions. Example:
///
///     HEADRACE_TRY(auto snapshot, keep_snapshot(*store, {SnapshotUse::reuse, ""}, context, {}));
///     const auto listed = make_snapshot_store(*store, std::move(snapshot));
///     HEADRACE_TRY(auto set, open_dataset(*listed, context, {}));
#pragma once

#include <memory>
#include <stop_token>
#include <string>

#include "headrace/base/context.h"
#include "headrace/records/snapshot/snapshot.h"
#include "headrace/storage/store.h"

namespace headrace {

enum class SnapshotUse {
  none,     ///< list, and keep nothing
  refresh,  ///< list, and keep what was listed
  reuse,    ///< what was kept, however old; if there is nothing, as refresh
};

struct SnapshotKeeping {
  SnapshotUse use = SnapshotUse::none;
  /// Empty: a name made of the place, in $HEADRACE_SNAPSHOT_DIR, else
  /// $XDG_CACHE_HOME/headrace-snapshots, else ~/.cache/headrace-snapshots.
  std::string file;
};

/// The store's listing, as asked for; says in a notice "snapshot" how old it is. A file that is
/// damaged is taken anew, with a notice. Null if `use` is none.
Result<std::shared_ptr<const Snapshot>> keep_snapshot(Store& store, const SnapshotKeeping& keeping,
                                                      const Context& context,
                                                      const std::stop_token& stop);

/// A store whose `list`, and `head` of what is listed, are answered by the snapshot. Read-only.
/// `below` must outlive it.
std::unique_ptr<Store> make_snapshot_store(Store& below, std::shared_ptr<const Snapshot> snapshot);

/// The snapshot that answers the store's listings; null if it is another kind of store. Whoever
/// numbers its objects may take them as they lie, instead of listing them.
std::shared_ptr<const Snapshot> snapshot_of(const Store& store);

}  // namespace headrace
