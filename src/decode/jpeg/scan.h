// SPDX-License-Identifier: Apache-2.0
/// \file The entropy-coded data of one scan: bytes in, coefficients out, a row of MCUs at a time.
///
/// Not thread-safe; one a thread, reused from picture to picture without allocation. Only clean
/// data is taken: the first irregularity (a code that does not exist, a cut, bytes too many) ends
/// it with `false`, and libjpeg-turbo has the last word on such a picture.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/jpeg/headers.h"
#include "headrace/decode/jpeg/huffman.h"
#include "headrace/decode/jpeg/mcu_run.h"
#include "headrace/decode/jpeg/seek_index.h"

namespace headrace::jpeg {

/// Where one component's coefficients of an MCU row go: block (x, y) of the wanted columns at
/// data[y * row_stride + (x / 4) * 256 + (x % 4) * 8], laid out as kernels.h says. Zeroed by the
/// caller.
struct CoefficientRow {
  std::int16_t* data = nullptr;
  std::size_t row_stride = 0;
};

class ScanDecoder {
 public:
  /// Takes out stuffed zeros and markers. Checkpoints are noted every `interval` MCUs of a row, for
  /// a seek index; 0: none. REQUIRES: `bytes` and `headers` stay until the last row.
  bool start(const Headers& headers, ByteSpan bytes, std::uint32_t interval = 0);

  /// Without restart intervals: all of the entropy-coded data, without stuffed zeros. More bytes
  /// than any MCU can take stand behind it, zeros.
  const std::uint8_t* clean() const { return clean_.data(); }
  std::uint64_t clean_bits() const { return segments_.front().end * 8; }
  /// For `checkpoints`, in place of decoding rows: where each MCU begins in the clean data.
  void note_checkpoints(std::span<const Checkpoint> mcus);

  /// Before the first row: builds what decoding in order needs.
  bool begin_rows();
  /// Decodes the next MCU row; MCUs in [first, last) are kept, the others only passed.
  bool next_row(std::uint32_t first, std::uint32_t last,
                const std::array<CoefficientRow, 3>& targets);

  /// After the last row: whether the data ended exactly here.
  bool ended_cleanly() const;
  /// What was recorded. REQUIRES: ended_cleanly(), or note_checkpoints was called
  std::span<const Checkpoint> checkpoints();

  std::uint32_t mcus_per_row() const { return mcus_per_row_; }
  std::uint32_t mcu_rows() const { return mcu_rows_; }

 private:
  struct Segment {  ///< between restart markers, in clean_
    std::size_t begin = 0, end = 0;
  };
  bool build_tables();
  bool unstuff(ByteSpan bytes);
  void note_checkpoint();
  bool begin_segment();
  bool segment_done() const;
  bool run(bool keep, std::uint32_t begin, std::uint32_t count,
           const std::array<std::int16_t*, 3>& base, const std::array<std::size_t, 3>& stride);

  const Headers* headers_ = nullptr;
  std::array<HuffmanTable, 4> dc_, ac_;
  std::vector<std::uint8_t> clean_;  ///< without stuffed zeros and markers
  std::vector<Segment> segments_;
  std::size_t segment_ = 0;
  std::uint32_t left_in_segment_ = 0;  ///< MCUs
  std::uint32_t mcus_per_row_ = 0, mcu_rows_ = 0, rows_done_ = 0;
  BitState bits_{};
  std::uint32_t interval_ = 0;  ///< of checkpoints, while they are recorded
  bool recording_ = false;
  std::vector<Checkpoint> checkpoints_;  ///< with clean bit offsets, until `checkpoints` is called
  std::vector<std::uint32_t> stuffed_;   ///< clean offset of each byte behind a stuffed zero
  std::array<std::int32_t, 3> predictors_{};
};

}  // namespace headrace::jpeg
