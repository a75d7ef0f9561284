// SPDX-License-Identifier: Apache-2.0
/// \file A rectangle of a JPEG in RGB, exactly as libjpeg-turbo decodes it whole and then crops.
///
/// Not thread-safe; one a thread, reused without allocation once it has seen the largest picture.
/// The whole entropy-coded data is always read, so that a damaged picture is noticed wherever the
/// rectangle lies; inverse DCT, upsampling and colour are done only where the rectangle needs them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/decode/jpeg/headers.h"
#include "headrace/decode/jpeg/scan.h"
#include "headrace/decode/transform.h"

namespace headrace::jpeg {

class RegionDecoder {
 public:
  /// Reads the headers. Empty if this picture can be taken, else why not: the caller then uses
  /// libjpeg-turbo. REQUIRES: `bytes` stay until the last `decode`.
  std::string_view open(ByteSpan bytes);
  std::uint32_t width() const { return headers_.width; }
  std::uint32_t height() const { return headers_.height; }

  /// Writes box.height rows of box.width RGB pixels at `rgb`, `stride` bytes apart. False: the
  /// data is not clean, and what was written means nothing. REQUIRES: the box lies inside.
  bool decode(const Box& box, std::uint8_t* rgb, std::size_t stride);

 private:
  struct Plane {  ///< samples of one component for the MCUs that the box needs
    std::vector<std::uint8_t> samples;
    std::vector<std::int16_t> coefficients;  ///< of one MCU row
    std::size_t stride = 0;
    std::size_t row_stride = 0;           ///< of coefficients
    std::uint32_t h = 1, v = 1;           ///< sampling factors
    std::uint32_t left = 0, top = 0;      ///< first column and row held, in samples
    std::uint32_t width = 0, height = 0;  ///< of the whole component, in samples
    alignas(64) std::array<std::uint16_t, 64> quant{};

    std::uint8_t* row(std::uint32_t y) {
      return samples.data() + kOrigin + std::size_t{y - top} * stride;
    }
    /// 64-byte aligned, as the transform wants it.
    std::int16_t* block_row() {
      const auto at = reinterpret_cast<std::uintptr_t>(coefficients.data());
      return coefficients.data() + (64 - at % 64) % 64 / sizeof(std::int16_t);
    }
    static constexpr std::size_t kOrigin = 64;
  };

  void lay_out(const Box& box);
  void transform_row(std::uint32_t mcu_row);
  void replicate_edges(Plane& plane, std::uint32_t y);
  void emit(const Box& box, std::uint32_t y, std::uint8_t* rgb);
  const std::uint8_t* chroma(Plane& plane, const Box& box, std::uint32_t y,
                             std::vector<std::uint8_t>& line);

  ByteSpan bytes_;
  Headers headers_;
  ScanDecoder scan_;
  std::array<Plane, 3> planes_;
  std::uint32_t first_mcu_ = 0, last_mcu_ = 0;  ///< columns
  std::uint32_t first_mcu_row_ = 0, last_mcu_row_ = 0;
  std::vector<std::uint8_t> cb_line_, cr_line_, grey_;
};

}  // namespace headrace::jpeg
