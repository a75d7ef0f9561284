// SPDX-License-Identifier: Apache-2.0
/// \file What a Store may have besides: reads of parts of what it keeps, for who saw the whole once
/// and remembers what each block of it hashed to.
///
/// As thread-safe as the store. The node cache has it; `part_reader` asks. Nothing is believed
/// that the caller's hashes do not cover, so a part is worth as much as the whole was.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "headrace/storage/store.h"

namespace headrace {

/// Some bytes of a range.
struct CheckedBlock {
  std::uint64_t offset = 0;  ///< from the range's first byte
  std::uint64_t length = 0;
  std::uint64_t check = 0;  ///< low half of hash_bytes of them
};

/// What of a range is enough.
struct WantedParts {
  std::vector<CheckedBlock> blocks;  ///< in order, apart, and inside the range
  Bytes known;                       ///< that the caller has already: not read, only put in place,
  std::uint64_t known_at = 0;        ///< from here on, before any block
};

/// Called exactly once, as ReadDone.
///  * the range: each block as its hash says, what is known in its place, zeros elsewhere
///  * nothing: not all of it is kept here, or what is does not fit the hashes (then it is dropped
///    and counted, as any damage): read the range
///  * cancelled
using PartsDone = std::function<void(Result<std::optional<Bytes>>)>;

class PartReader {
 public:
  PartReader() = default;
  PartReader(const PartReader&) = delete;
  PartReader& operator=(const PartReader&) = delete;
  virtual ~PartReader() = default;

  /// REQUIRES: a pin, and a length that is given
  virtual void read_parts(ReadRequest request, std::shared_ptr<const WantedParts> wanted,
                          PartsDone done) = 0;
};

/// Null if the store has no such reads.
inline PartReader* part_reader(Store& store) { return dynamic_cast<PartReader*>(&store); }

}  // namespace headrace
