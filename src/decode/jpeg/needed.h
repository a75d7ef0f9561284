// SPDX-License-Identifier: Apache-2.0
/// \file Which bytes of a JPEG a rectangle needs, told before any of them is read.
///
/// Pure functions; thread-safe. The decoder itself asks them where a stretch lies, so what they
/// say and what it reads cannot drift apart.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/digest.h"
#include "headrace/decode/jpeg/seek_index.h"
#include "headrace/decode/transform.h"

namespace headrace::jpeg {

/// Of a picture's headers, what decides which bytes a rectangle needs.
struct Outline {
  std::uint32_t width = 0, height = 0;
  std::uint32_t h = 1, v = 1;    ///< sampling factors of the first component
  std::uint32_t restarts = 0;    ///< restart interval
  std::uint32_t scan_begin = 0;  ///< bytes of the headers
  bool operator==(const Outline&) const = default;
};
Outline outline_of(const Headers& headers);

/// Half-open ranges of columns and rows of MCUs.
struct Mcus {
  std::uint32_t first = 0, last = 0;
  std::uint32_t first_row = 0, last_row = 0;
};
/// What the box needs, with the neighbours that upsampling looks at. The first column is a
/// multiple of `grain`.
Mcus mcus_of(const Outline& outline, const Box& box, std::uint32_t grain);

/// Bytes of a file, from `begin` up to `end`.
struct ByteRun {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const ByteRun&) const = default;
};

/// Where the stretch of one MCU row lies. Nothing: the index cannot be right.
std::optional<ByteRun> stretch_of(const SeekIndex& index, const Mcus& mcus, std::uint32_t mcu_row,
                                  const Outline& outline, std::size_t picture_bytes);

/// Whether `run` lies in one of `runs`, which are in order and apart.
bool covers(std::span<const ByteRun> runs, const ByteRun& run);

/// The headers, and what decode_indexed reads for the box; in order, and apart. Empty: the index
/// is none for this picture, all of which is needed then.
std::vector<ByteRun> bytes_needed(const Outline& outline, const Box& box, std::size_t picture_bytes,
                                  ByteSpan index, const Hash128& payload);

}  // namespace headrace::jpeg
