// SPDX-License-Identifier: Apache-2.0
/// \file Where decoding can begin inside a JPEG: checkpoints, some MCUs apart, in each MCU row.
///
/// A picture's first decode records them; later ones begin at the nearest checkpoint before the
/// crop and take several MCU rows at once. The picture's own bytes are never changed. A value;
/// a `SeekIndex` borrows its bytes. Layout in SEEK-INDEX.md.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/digest.h"
#include "headrace/decode/jpeg/headers.h"

namespace headrace::jpeg {

struct Checkpoint {
  std::uint32_t bit = 0;  ///< in the file, from its first byte; never in a stuffed zero
  std::array<std::int16_t, 3> predictors{};  ///< DC of the last block before, a component each
};

/// How many MCUs lie between checkpoints: 64 pixels.
constexpr std::uint32_t checkpoint_interval(const Headers& headers) {
  return headers.components[0].h == 2 ? 4 : 8;
}
constexpr std::uint32_t checkpoints_per_row(const Headers& headers) {
  const std::uint32_t pixels = 8 * headers.components[0].h * checkpoint_interval(headers);
  return (headers.width + pixels - 1) / pixels;
}
constexpr std::uint32_t checkpoint_rows(const Headers& headers) {
  return (headers.height + 8 * headers.components[0].v - 1) / (8 * headers.components[0].v);
}

class SeekIndex {
 public:
  /// Nothing unless the bytes are whole, of this version, and made from exactly this picture:
  /// `payload` is the hash of its bytes.
  static std::optional<SeekIndex> open(ByteSpan bytes, const Hash128& payload,
                                       const Headers& headers);
  /// REQUIRES: one checkpoint for each stretch of each MCU row, in order.
  static std::vector<std::byte> serialise(std::span<const Checkpoint> checkpoints,
                                          const Hash128& payload);

  Checkpoint at(std::uint32_t row, std::uint32_t stretch) const;
  std::uint32_t per_row() const { return per_row_; }
  std::uint32_t rows() const { return rows_; }

 private:
  SeekIndex(ByteSpan entries, std::uint32_t per_row, std::uint32_t rows)
      : entries_(entries), per_row_(per_row), rows_(rows) {}

  ByteSpan entries_;
  std::uint32_t per_row_;
  std::uint32_t rows_;
};

}  // namespace headrace::jpeg
