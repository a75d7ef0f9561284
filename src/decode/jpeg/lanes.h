// SPDX-License-Identifier: Apache-2.0
/// \file Many stretches of a picture at once, a lane of a vector each: every lane looks up, shifts
/// and adds at the same time. Needs a seek index to know where stretches begin.
///
/// A pure function of its job; thread-safe. Only where gathers and compressing are instructions
/// (AVX-512 with VBMI2): elsewhere streams.h.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "headrace/decode/jpeg/lane_tables.h"

namespace headrace::jpeg {

/// A block of an MCU row: where its coefficients go, from the row's `out` on, and whose it is.
struct RowBlock {
  std::uint32_t out = 0;
  std::uint32_t component = 0;
};

/// What one lane decodes: whole MCUs, one after the other.
struct LaneStretch {
  std::uint64_t position = 0;     ///< of the first bit, in the job's bytes
  std::uint32_t first_block = 0;  ///< in the job's row
  std::uint32_t blocks = 0;
  std::int16_t* out = nullptr;               ///< of its row
  std::array<std::int16_t, 3> predictors{};  ///< DC of the block before, a component each
};

inline constexpr std::size_t kMostSlots = 6;

struct LaneJob {
  const std::uint8_t* bytes = nullptr;  ///< clean: no stuffed zeros
  std::uint64_t limit = 0;  ///< in bits; reading beyond gives what stands here: 16 bytes
  std::span<const LaneStretch> stretches;
  std::span<const RowBlock> row;
  const LaneEntry* entries = nullptr;  ///< of all tables
  /// The blocks of an MCU in the order of the scan: which tables each is read by, and where these
  /// begin in `entries`.
  std::size_t slots = 0;
  std::array<std::uint32_t, kMostSlots> first_entry{};
  std::array<const LaneTables*, kMostSlots> tables{};
};

/// Whether this processor has what it takes.
bool has_lanes();

/// Writes every coefficient of every block, zeros included; DC as values, not differences. False: a
/// code that does not exist. REQUIRES: has_lanes(), and a multiple of `slots` blocks in each
/// stretch
bool decode_lanes(const LaneJob& job);

}  // namespace headrace::jpeg
