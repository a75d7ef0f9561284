// SPDX-License-Identifier: Apache-2.0
/// \file What the kernel asks, answered from the tree and the reader: FUSE's low-level operations.
///
/// Thread-safe: libfuse calls them from all of a mount's threads.
#pragma once

#include <atomic>
#include <stop_token>

#include "headrace/consumers/mount/mount.h"
#include "headrace/consumers/mount/object_reader.h"
#include "headrace/consumers/mount/tree.h"

struct fuse_lowlevel_ops;

namespace headrace::mount {

/// Handed to libfuse as the session's user data.
struct Service {
  Service(Tree& its_tree, ObjectReader& its_reader, const MountOptions& its_options)
      : tree(its_tree), reader(its_reader), options(its_options) {}

  Tree& tree;
  ObjectReader& reader;
  const MountOptions& options;
  bool ask_no_open = false;     ///< the kernel has understood that open has nothing to say
  bool ask_no_opendir = false;  ///< the same of folders
  std::stop_source stop;        ///< ends what waits, when the mount ends
  std::atomic<std::uint64_t> lookups{0};
  std::atomic<std::uint64_t> lists{0};
  std::atomic<std::uint64_t> errors{0};
};

const fuse_lowlevel_ops& operations();

}  // namespace headrace::mount
