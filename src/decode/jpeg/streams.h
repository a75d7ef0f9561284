// SPDX-License-Identifier: Apache-2.0
/// \file Several MCU rows at once: the same inner loop as mcu_run, without its branches, so that
/// the latency of one row's table look-ups hides behind the others'.
///
/// A pure function of its job; thread-safe. Needs a seek index to know where rows begin. DC
/// coefficients come out as differences: `sum_dc` adds them up afterwards.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "headrace/decode/jpeg/huffman.h"

namespace headrace::jpeg {

inline constexpr std::size_t kStreams = 4;

/// One block of a row's stretch, the same for every row: where it goes, counted from the row's
/// base, and by which tables it is read (numbers into `StreamTables`).
struct BlockPlan {
  std::uint32_t out = 0;
  std::array<std::uint8_t, 2> tables{};  ///< DC, AC
  std::uint8_t component = 0;
  std::uint8_t unused = 0;
};

struct StreamTables {
  std::array<const HuffmanTable*, 8> tables{};  ///< 0–3 DC, 4–7 AC
};

struct StreamRow {
  const std::uint8_t* at = nullptr;  ///< clean bytes: no stuffed zeros
  const std::uint8_t* limit =
      nullptr;                   ///< reading beyond gives what stands here; 8 bytes are there
  std::uint32_t skip = 0;        ///< bits of the first byte that belong to the block before
  std::int16_t* base = nullptr;  ///< zeroed coefficients
};

/// `plan` has kSparePlans entries more than there are blocks: room for one symbol that means
/// nothing, and for the look beyond it. False: a code that does not exist.
inline constexpr std::size_t kSparePlans = 2;
bool decode_streams(std::span<const StreamRow> rows, std::span<const BlockPlan> plan,
                    const StreamTables& tables);

}  // namespace headrace::jpeg
