// SPDX-License-Identifier: Apache-2.0
/// \file Several MCU rows at once: the same inner loop as mcu_run, without its branches, so that
/// the latency of one row's table look-ups hides behind the others'.
///
/// A pure function of its job; thread-safe. Needs a seek index to know where rows begin. DC
/// coefficients come out as differences: the caller adds them up afterwards.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headrace/decode/jpeg/pair_tables.h"

namespace headrace::jpeg {

inline constexpr std::size_t kStreams = 4;

/// What the next look of a stream is looked up in, and what becomes of it.
struct LookPlan {
  const Entry* entries = nullptr;
  std::size_t out = 0;      ///< of the block, in bytes from the row's `out`
  std::uint32_t shift = 0;  ///< that leaves a look of the window
  std::uint32_t keep = 0;   ///< of the state: where a block begins, k does
  const HuffmanCode* code = nullptr;
};
/// One block of a row's stretch, the same for every row. Pairs, so that the next look's plan is
/// found by arithmetic: from a DC look to the AC looks, from the last of these to the next block.
struct alignas(64) BlockPlan {
  LookPlan dc, ac;
};

struct StreamRow {
  const std::uint8_t* base = nullptr;  ///< clean bytes: no stuffed zeros
  std::uint64_t position = 0;          ///< of the first bit
  std::uint64_t limit = 0;             ///< reading beyond gives what stands here; 8 bytes are there
  std::int16_t* out = nullptr;         ///< zeroed coefficients
};

/// `plan` has kSparePlans entries more than there are blocks: room for what is looked up behind
/// the last block and means nothing. False: a code that does not exist.
inline constexpr std::size_t kSparePlans = 6;
bool decode_streams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan);

}  // namespace headrace::jpeg
