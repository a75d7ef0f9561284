// SPDX-License-Identifier: Apache-2.0
/// \file The inner loops of resize and store: one plain form, and one for each vector unit, chosen
/// at run time by Highway. All forms give the same bytes.
///
/// Thread-safe: functions of their arguments.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headrace/decode/resize_table.h"

namespace headrace {

/// How far beyond a row's end these functions may read, and write.
inline constexpr std::size_t kRowSlack = 128;

inline constexpr std::size_t padded_row(std::size_t width) {
  return (width + 63) / 64 * 64 + kRowSlack;
}

/// One row as three planes: red, green, blue.
using PlanarRow = std::array<const std::uint8_t*, 3>;
using PlanarRowOut = std::array<std::uint8_t*, 3>;

/// A ResizeTable in the order in which the vector unit at hand wants it.
struct AcrossPlan {
  const ResizeTable* table = nullptr;  ///< outlives the plan
  std::uint32_t form = 0;
  std::uint32_t steps = 0;  ///< of the inner loop, where the form wants to know
  std::vector<std::uint32_t> base;
  std::vector<std::uint8_t> memory;
};

void plan_across(const ResizeTable& table, AcrossPlan& plan);
/// The horizontal pass of one row. Rows and `out` have kRowSlack bytes to spare.
void run_across(const AcrossPlan& plan, const PlanarRow& row, const PlanarRowOut& out);

/// The vertical pass: `out` is made of `taps` rows, with one weight each; taps is a multiple
/// of 4 (rows of weight 0 must be readable too).
void run_down(const std::uint8_t* const* rows, const std::int32_t* weights, std::uint32_t taps,
              std::uint32_t width, std::uint8_t* out);

/// RGB pixels into planes, and back. Planes have kRowSlack bytes to spare, `rgb` has none.
void split_rgb(const std::uint8_t* rgb, std::uint32_t width, const PlanarRowOut& out);
void join_rgb(const PlanarRow& row, std::uint32_t width, std::uint8_t* rgb);

/// out[i] = in[i] * scale + bias, two roundings.
void to_float(const std::uint8_t* in, std::uint32_t width, float scale, float bias, float* out);
/// The same past the processor's caches, where `out` is aligned to 64 bytes: what is written is not
/// read into them first, and pushes nothing out of them. Others see it after `fence_streams`.
void stream_float(const std::uint8_t* in, std::uint32_t width, float scale, float bias, float* out);
void fence_streams();
inline bool begins_cache_line(const void* at) {
  return reinterpret_cast<std::uintptr_t>(at) % 64 == 0;
}

}  // namespace headrace
