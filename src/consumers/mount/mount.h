// SPDX-License-Identifier: Apache-2.0
/// \file A store as a read-only file system of this machine: FUSE's low level, many threads,
/// read-ahead under one budget. What programs see is written down in MOUNT.md.
///
///     HEADRACE_TRY(auto mount, Mount::make(*store, uri, "/mnt/train", {}, context, stop));
///     HEADRACE_TRY(mount->serve(stop));    // until the stop, or until somebody unmounts it
///
/// One thread makes it and calls `serve`; `stats` may be called from any thread.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/context.h"
#include "headrace/base/result.h"
#include "headrace/base/uri.h"
#include "headrace/consumers/mount/object_reader.h"
#include "headrace/storage/store.h"

namespace headrace::mount {

struct MountOptions {
  ReaderOptions reader;
  /// Requests of the kernel that are answered at once. A read that waits for the store holds one.
  unsigned threads = 64;
  std::optional<uid_t> uid;  ///< of all files; absent: this process's
  std::optional<gid_t> gid;
  mode_t umask = 0;          ///< taken from 0444 and 0555
  bool allow_other = false;  ///< other users may enter (fuse.conf: user_allow_other)
  /// Something that a program saw as an errno, with its cause: to be shown. From any thread.
  std::function<void(int error_number, const Error&)> on_error;
  /// The folder answers from now on. On a thread of `serve`; may be empty.
  std::function<void()> on_ready;
};

struct MountStats {
  std::uint64_t lookups = 0;
  std::uint64_t lists = 0;  ///< readdir requests of the kernel
  std::uint64_t reads = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hits = 0;           ///< reads whose bytes were there when they came
  std::uint64_t fetched_ahead = 0;  ///< requests made before they were needed
  std::uint64_t dropped = 0;        ///< of these, dropped before they were read
  std::uint64_t errors = 0;
  std::uint64_t nodes = 0;       ///< files and folders seen
  std::uint64_t peak_bytes = 0;  ///< of data held at once
};

class Mount {
 public:
  /// Mounts; the folder answers as soon as `serve` runs (`on_ready`). `store` must outlive it;
  /// `source` says what it is, for messages and for `prepare`.
  ///  * what stands in the way: mount_point.h
  ///  * what the store answers to a first look: denied, not_found, unavailable, …
  static Result<std::unique_ptr<Mount>> make(Store& store, const Uri& source,
                                             const std::string& folder, const MountOptions& options,
                                             const Context& context, const std::stop_token& stop);
  Mount(const Mount&) = delete;
  Mount& operator=(const Mount&) = delete;
  /// Unmounts, if nobody did.
  virtual ~Mount() = default;

  /// Answers the kernel until `stop`, or until the folder is unmounted.
  virtual Result<void> serve(const std::stop_token& stop) = 0;
  virtual MountStats stats() const = 0;

 protected:
  Mount() = default;
};

}  // namespace headrace::mount
