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

constexpr std::uint32_t mcus_per_row(const Headers& headers) {
  return divide_up(headers.width, 8 * headers.components[0].h);
}
constexpr std::uint32_t mcu_rows(const Headers& headers) {
  return divide_up(headers.height, 8 * headers.components[0].v);
}

/// How many MCUs should lie between checkpoints for the index to take at most 4 % of a picture of
/// so many bytes: the fewer, the less is read in vain. 0: it would take more, whatever they are.
std::uint32_t checkpoint_interval(const Headers& headers, std::size_t picture_bytes);

class SeekIndex {
 public:
  /// Nothing unless the bytes are whole, of this version, and made from exactly this picture:
  /// `payload` is the hash of its bytes.
  static std::optional<SeekIndex> open(ByteSpan bytes, const Hash128& payload,
                                       const Headers& headers);
  /// Empty if a checkpoint does not fit its 8 bytes: of pictures that no encoder makes.
  /// REQUIRES: one checkpoint every `interval` MCUs of each MCU row, in order.
  static std::vector<std::byte> serialise(std::span<const Checkpoint> checkpoints,
                                          std::uint32_t interval, const Hash128& payload);

  Checkpoint at(std::uint32_t row, std::uint32_t stretch) const;
  std::uint32_t interval() const { return interval_; }
  std::uint32_t per_row() const { return per_row_; }
  std::uint32_t rows() const { return rows_; }

 private:
  SeekIndex(ByteSpan entries, std::uint32_t interval, std::uint32_t per_row, std::uint32_t rows)
      : entries_(entries), interval_(interval), per_row_(per_row), rows_(rows) {}

  ByteSpan entries_;
  std::uint32_t interval_;
  std::uint32_t per_row_;
  std::uint32_t rows_;
};

}  // namespace headrace::jpeg
