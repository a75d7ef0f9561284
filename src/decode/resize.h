// SPDX-License-Identifier: Apache-2.0
/// \file Pillow's antialiased resize of 8-bit pictures, bit for bit: `crop(box).resize(size)`.
///
/// Not thread-safe: one Resizer a thread; it keeps its tables and rows. Source of the arithmetic:
/// Pillow's libImaging/Resample.c (MIT-CMU): coefficients in double, rounded to 22 bits; one pass
/// a direction, each rounded to 8 bits. Pillow up to 12 runs the horizontal pass first, and that
/// is the default; Pillow 13 begins with the vertical one for some shapes, which changes single
/// pixels by one. Example:
///
///     Resizer resizer;
///     resizer.resize({rgb, stride, 500, 375}, {224, 224, {0, 0, 224, 224}}, out, 3 * 224);
#pragma once

#include <cstdint>
#include <vector>

#include "headrace/decode/transform.h"

namespace headrace {

enum class Filter { nearest, box, bilinear, hamming, bicubic, lanczos };

/// RGB, three bytes a pixel.
struct RgbView {
  const std::uint8_t* pixels = nullptr;
  std::size_t stride = 0;  ///< bytes from row to row
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct ResizeGoal {
  std::uint32_t width = 0;  ///< of the whole resized picture
  std::uint32_t height = 0;
  Box window;         ///< the part of it that is wanted; only this is computed
  bool flip = false;  ///< left and right, within the window
  Filter filter = Filter::bilinear;
  PassOrder order = PassOrder::pillow12;
};

/// For one direction: output pixel i is the sum of `count[i]` samples from `first[i]` on, weighted
/// by `taps` fixed-point numbers each.
struct ResizeTable {
  static constexpr int kBits = 22;

  std::uint32_t taps = 0;  ///< room for each output pixel in `weights`
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> count;
  std::vector<std::int32_t> weights;
  std::vector<double> scratch;

  /// Of output pixels begin .. begin + size of `scaled`, made from `source` samples.
  void fill(Filter filter, std::uint32_t source, std::uint32_t scaled, std::uint32_t begin,
            std::uint32_t size);
  void reverse();
};

class Resizer {
 public:
  /// REQUIRES: source not empty; the window lies within width × height; `out` holds it.
  void resize(const RgbView& source, const ResizeGoal& goal, std::uint8_t* out,
              std::size_t out_stride);

 private:
  void nearest(const RgbView& source, const ResizeGoal& goal, std::uint8_t* out,
               std::size_t out_stride);

  ResizeTable across_;
  ResizeTable down_;
  std::vector<std::uint8_t> between_;
  std::vector<std::int32_t> sums_;
};

}  // namespace headrace
