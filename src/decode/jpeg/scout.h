// SPDX-License-Identifier: Apache-2.0
/// \file Where every MCU of a picture begins, without an index: many lanes begin somewhere in its
/// bytes, and find their way.
///
/// Huffman codes bring a reader that began at a wrong bit back to the right ones after a while: in
/// photographs after 200 to 300 bytes, block and component included. From where a lane that is
/// right ends a block in the very state in which the next lane ended one, the next lane is right,
/// too: the same state reads the same. So what comes out is exact, or nothing does.
///
/// A function of its job and of memory that it reuses; one a thread. Idea: parallel Huffman
/// decoding by self-synchronisation, as for GPUs (ICPP 2018).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "headrace/decode/jpeg/lanes.h"
#include "headrace/decode/jpeg/seek_index.h"

namespace headrace::jpeg {

/// A block that a lane has read.
struct BlockEnd {
  std::uint32_t position = 0;  ///< of the first bit behind it
  std::int16_t dc = 0;         ///< difference
  std::uint8_t slot = 0;
  bool bad = false;  ///< no such code, or a run that leaves the block
};

/// Where more than this share of a picture's MCUs is wanted, reading all in order is faster on this
/// processor than scouts for all and lanes for those. 0: it has not what it takes.
double scouted_share();

/// Fewer bytes are not worth it.
inline constexpr std::size_t kLeastScouted = 16384;

/// `starts` becomes, for each MCU, its first bit in the job's bytes, and the predictors there. Of
/// the job, stretches are not looked at. False: the bytes are not clean, or a lane did not find its
/// way; nothing is said then. REQUIRES: scouted_share() > 0; no restart intervals
bool scout(const LaneJob& job, std::size_t mcus, std::vector<std::vector<BlockEnd>>& memory,
           std::vector<Checkpoint>& starts);

}  // namespace headrace::jpeg
