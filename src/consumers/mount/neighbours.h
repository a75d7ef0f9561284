// SPDX-License-Identifier: Apache-2.0
/// \file Small files read one after the other in the order of their folder: how many of the next
/// ones to fetch before they are asked for.
///
/// Pure, as read_ahead.h is; not thread-safe; one a folder. With 30 ms to the first byte, a reader
/// that opens one picture after the other gets 33 a second, however fast the line is; fetched ahead
/// it gets what the line carries. A reader in another order (a shuffle) costs nothing: nothing is
/// fetched.
#pragma once

#include <cstdint>

namespace headrace::mount {

class Neighbours {
 public:
  /// The largest number of files ahead.
  static constexpr unsigned kMost = 64;

  struct Plan {
    std::uint64_t from = 0;  ///< places after the file
    std::uint64_t count = 0;
  };

  /// `place` is the file's place in its folder's order, at its first read. Returns which of those
  /// after it should be sent for now; those before `from` were.
  Plan on_first_read(std::uint64_t place);

 private:
  std::uint64_t furthest_ = 0;
  std::uint64_t sent_ = 0;  // for all places before this one
  unsigned in_order_ = 0;   // reads that went on from the furthest, or nearly
  unsigned ahead_ = 0;
  bool begun_ = false;
};

}  // namespace headrace::mount
