// SPDX-License-Identifier: Apache-2.0
/// \file What stands under a loader in each mode: the one place that knows all of them.
///
/// A Composition is moved, then used from any thread as its parts allow.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/job/job.h"
#include "headrace/job/mount_process.h"
#include "headrace/job/pipe_server.h"
#include "headrace/job/private_folder.h"
#include "headrace/loader/feed.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/keep/keep_store.h"
#include "headrace/storage/side_store.h"
#include "headrace/storage/store.h"

namespace headrace {

struct Composition {
  std::vector<Composition> members;  ///< of several sets: the rest stands on them
  Mode mode = Mode::direct;
  std::unique_ptr<PrivateFolder> folder;       ///< of files or FIFOs that end with the job
  std::unique_ptr<MountProcess> mount;         ///< mode fastfile: over `folder`
  std::vector<std::unique_ptr<Store>> stores;  ///< each may stand on those before it
  std::string place;                           ///< what the origin calls itself
  std::string stands_on;                       ///< the medium of a path that is read first
  std::unique_ptr<SideStore> index_folder;     ///< where indexes are kept outside of mode keep
  std::unique_ptr<SideStore> seek_folder;      ///< where seek indexes are kept, if asked for
  KeepStore* cache = nullptr;                  ///< mode keep: one of the stores
  SideStore* side_store = nullptr;             ///< the seek folder, or the cache, or none
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<PipeServer> pipe;  ///< mode pipe: writes what the feed reads
  std::unique_ptr<Feed> feed;

  Composition() = default;
  Composition(Composition&&) = default;
  Composition& operator=(Composition&&) = delete;
  Composition(const Composition&) = delete;
  Composition& operator=(const Composition&) = delete;
  /// From the top down: a wrapper goes before what it stands on.
  ~Composition();
};

/// Puts counters into `context` that the job's child process shares, in modes that have one.
Result<Composition> compose(const JobOptions& options, Context& context,
                            const std::stop_token& stop);

}  // namespace headrace
