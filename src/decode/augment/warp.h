// SPDX-License-Identifier: Apache-2.0
/// \file An affine map of 8-bit pictures, bit for bit OpenCV 4.7's warpAffine with bilinear
/// interpolation and a constant border: places in 32nds of a pixel, weights of 15 bits.
///
/// Thread-safe: const functions. Example:
///
///     const Warp warp(*params.warp);
///     const Box source = warp.source_of({left, top, 224, 224}, scaled_width, scaled_height);
///     … draw `source` of the picture into `from` …
///     warp.run(from, source, {left, top, 224, 224}, scaled, false, to);
#pragma once

#include <array>

#include "headrace/decode/augment/canvas.h"
#include "headrace/decode/transform.h"

namespace headrace {

class Warp {
 public:
  /// What lies outside the picture: as in MXNet's example of an image classifier.
  static constexpr std::uint8_t kFill = 127;

  /// The forward map, as in Params.
  explicit Warp(const std::array<float, 6>& forward);

  /// The part of a picture of that size that `window` of the result is made of; of width or height
  /// 0 if it is made of fill alone.
  Box source_of(const Box& window, std::uint32_t width, std::uint32_t height) const;

  /// `from` holds `source` of the picture; `to` becomes `window` of the result, mirrored if asked.
  void run(const Canvas& from, const Box& source, const Box& window, bool flip, Canvas& to) const;

 private:
  struct Place {
    int x = 0, y = 0;  ///< in 32nds
  };
  Place place(std::uint32_t x, std::uint32_t y) const;

  std::array<double, 6> inverse_{};
};

}  // namespace headrace
