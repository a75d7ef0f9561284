// SPDX-License-Identifier: Apache-2.0
/// \file The node cache: streams from any store the first time, then reads from local disk.
///
/// Thread-safe, and any number of processes may share the directory (PROTOCOL.md). Every read
/// that carries a pin is kept, and served later to requests of the same store, key and pin whose
/// bytes are all there; it is verified by its hash each time. Nothing wrong is ever served: what
/// does not verify is dropped, counted and read again from the origin. Trouble with the cache's
/// disk never fails a read: the job goes on from the origin, leaves one notice, and tries again.
///
/// A weak pin (no ETag, no version) is kept under modification time and size, which is as much as
/// is known of such an object. Reads without a pin pass by. Writes go to the origin alone.
///
///     HEADRACE_TRY(auto keep, make_keep_store(*s3, {.dir = "/nvme/headrace"}, context));
///     HEADRACE_TRY(auto data, open_dataset(*s3, context, {.side_store = keep.get()}));
///     auto feed = make_store_feed(*keep, *data);
///
/// (The data set is opened over the origin: what an index is built from is not worth keeping
/// twice.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/context.h"
#include "headrace/storage/shaped/media.h"
#include "headrace/storage/side_store.h"
#include "headrace/storage/store.h"

namespace headrace {

struct KeepOptions {
  std::string dir;  ///< made if it is missing; must belong to this user alone
  /// The directory never holds more, whoever writes to it, what is being written included.
  /// 0: nine tenths of what is free there (to this user, by its quota) or kept already, and the
  /// last tenth is left alone, whoever else fills the volume meanwhile; on a volume in memory half
  /// of the memory that is left (to this control group).
  std::uint64_t limit_bytes = 0;
  unsigned read_threads = 16;  ///< a queue depth, not a core count
  /// Bytes that were delivered and are not on disk yet. When there are more, misses wait for the
  /// disk before they go to the origin: so the next epoch finds everything that fits.
  std::uint64_t write_queue_bytes = std::uint64_t{32} << 20U;
  /// A disk that does not answer for so long counts as failed, and the job goes on without it.
  Nanos patience = std::chrono::seconds(5);
  /// Ends waiting for derived bytes, and at the end for what is not written yet.
  std::stop_token stop;
  /// The cache's disk as slow as this, for measurements; empty: as it is.
  std::optional<Medium> medium;
};

struct KeepStats {
  std::uint64_t limit_bytes = 0;
  std::uint64_t used_bytes = 0;      ///< by everyone, when space was last measured
  std::uint64_t entries = 0;         ///< of this store that this process knows of
  std::uint64_t stored_bytes = 0;    ///< written by this store
  std::uint64_t damaged = 0;         ///< entries dropped because they did not verify
  std::uint64_t not_kept_bytes = 0;  ///< not written: no room, or the disk is in trouble
  std::uint64_t shared = 0;          ///< misses that another process fetched meanwhile
};

class KeepStore : public Store, public SideStore {
 public:
  virtual KeepStats stats() const = 0;
  /// Waits until everything delivered so far is written or given up. For tests and epoch ends.
  virtual void flush() = 0;
};

/// `base` must outlive it.
///  * denied: the directory belongs to someone else, or others can reach into it
///  * invalid: not a directory, or on a file system without the locks that sharing needs
Result<std::unique_ptr<KeepStore>> make_keep_store(Store& base, const KeepOptions& options,
                                                   const Context& context);

/// $HEADRACE_KEEP_DIR, else $XDG_CACHE_HOME/headrace, else ~/.cache/headrace.
/// `invalid` if none of these is set.
Result<std::string> default_keep_dir();

}  // namespace headrace
