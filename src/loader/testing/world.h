// SPDX-License-Identifier: Apache-2.0
/// \file A folder data set on a scripted store, and what a whole job on it delivered.
///
/// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "headrace/loader/loader.h"
#include "headrace/loader/testing/scripted_store.h"

namespace headrace::testing {

/// `samples` objects "c<i mod 3>/<i>.jpg" with contents that differ.
struct World {
  explicit World(std::uint64_t samples, unsigned store_threads = 2);

  Result<std::unique_ptr<Loader>> loader(const LoaderOptions& options,
                                         const std::optional<State>& resume = std::nullopt);
  /// The object of a sample id.
  std::string key(std::uint64_t sample) const;

  Context context;
  ScriptedStore store;
  std::unique_ptr<Dataset> dataset;
  std::unique_ptr<Feed> feed;
};

/// What one rank delivered.
struct Delivered {
  std::vector<EpochReport> epochs;
  std::vector<Slot> slots;
  std::vector<std::size_t> batches;  ///< their sizes
  std::optional<Error> error;
};

/// Runs a loader through so many epoch ends, or to its first error. `at_batch` may look at each
/// batch.
Delivered drain(Loader& loader, std::uint64_t epochs,
                const std::function<void(Batch&)>& at_batch = {});

/// Options of a small job without pixels.
LoaderOptions small_job();

}  // namespace headrace::testing
