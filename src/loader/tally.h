// SPDX-License-Identifier: Apache-2.0
/// \file What became of each place of a batch: into the ledger, the digests and the list of bad
/// samples; and the batch as its consumer gets it.
///
/// Not thread-safe: the consumer's. Batches are counted when they are handed out, in order, so
/// that a saved state never holds a sample that was not delivered.
#pragma once

#include <cstdint>
#include <memory>

#include "headrace/loader/loader.h"
#include "headrace/loader/quarantine.h"
#include "headrace/loader/window.h"

namespace headrace {

class Tally {
 public:
  Tally(const Dataset& dataset, const LoaderOptions& options, const Plan& plan,
        Quarantine quarantine);

  /// Counts the batch. `corrupt` once more samples of the epoch are bad than options.max_bad
  /// allows; the batch is not delivered then.
  Result<void> add(const Work& work, State& state);
  /// Lists the sample that ended the job; it is in no sum.
  Result<void> list(const FailedPlace& bad);

 private:
  const Dataset& dataset_;
  const LoaderOptions& options_;
  const std::uint64_t samples_;  ///< in an epoch
  const std::uint64_t share_;    ///< this rank's samples in an epoch
  Quarantine quarantine_;
};

/// Slots and labels from the items; places that were left out are closed up.
std::unique_ptr<Batch> fill_in(Work& work);

}  // namespace headrace
