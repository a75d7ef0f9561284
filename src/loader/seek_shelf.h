// SPDX-License-Identifier: Apache-2.0
/// \file Seek indexes (seek_memory.h) that outlive the job: kept in a SideStore under the data
/// set's fingerprint, so that the next job begins where this one ended.
///
/// `load` and `save` are for one thread, beside any number that use the memory. What is lost, stale
/// or damaged costs time, never pixels: the side store compares hashes, and an index is used only
/// with the bytes it was made from. Layout in SEEK-SHELF.md.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/loader/seek_memory.h"
#include "headrace/storage/side_store.h"

namespace headrace {

class SeekShelf {
 public:
  /// The side store must outlive it. Ranks of a job write entries of their own and read all.
  SeekShelf(SideStore& side, std::string store, std::string fingerprint, std::uint64_t samples,
            std::uint64_t rank, std::string kind = "jpeg-seek");

  /// Puts all that is kept into the memory; gives how many indexes.
  std::uint64_t load(SeekMemory& into, const std::stop_token& stop);
  /// Keeps what was recorded since the last call, and brings in what other ranks kept beside it.
  /// An error: the place is out of reach.
  Result<void> save(SeekMemory& memory, const std::stop_token& stop);

 private:
  SideKey key(std::uint64_t stretch, std::uint64_t part) const;
  std::uint64_t stretches() const;
  Result<void> save_stretch(SeekMemory& memory, std::uint64_t stretch);

  SideStore& side_;
  const std::string store_;
  const std::string fingerprint_;
  const std::string kind_;
  const std::uint64_t samples_;
  const std::uint64_t part_;
  std::vector<std::uint16_t> saved_;  ///< indexes of each stretch that were saved by this job
};

}  // namespace headrace
