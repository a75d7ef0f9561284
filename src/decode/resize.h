// SPDX-License-Identifier: Apache-2.0
/// \file Pillow's antialiased resize of 8-bit pictures, bit for bit: `crop(box).resize(size)`.
///
/// Not thread-safe: one Resizer a thread; it keeps its tables and rows. Rows go in as they are
/// decoded and come out as soon as they are complete, so only a few are ever held.
///
/// Source of the arithmetic: Pillow's libImaging/Resample.c (MIT-CMU): coefficients in double,
/// rounded to 22 bits; one pass a direction, each rounded to 8 bits. Pillow up to 12.1 runs the
/// horizontal pass first: the default, `pillow12`. Pillow 13.0 begins with the vertical one if
/// the height shrinks by more than twice what the width shrinks by, which changes single pixels
/// by one: `pillow13`. Example:
///
///     Resizer resizer;
///     resizer.resize({rgb, stride, 500, 375}, {224, 224, {0, 0, 224, 224}}, sink);
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "headrace/decode/resize_kernels.h"
#include "headrace/decode/resize_table.h"
#include "headrace/decode/transform.h"

namespace headrace {

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

/// Takes finished rows, top to bottom.
class RowSink {
 public:
  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  virtual ~RowSink() = default;

  /// Row `y` of the window, of the window's width; valid during the call.
  virtual void row(std::uint32_t y, const PlanarRow& row) = 0;
};

class Resizer {
 public:
  /// The sink must live until the last row.
  /// REQUIRES: no size is 0; the window lies within goal.width × goal.height
  void begin(std::uint32_t width, std::uint32_t height, const ResizeGoal& goal, RowSink& sink);

  /// Forgets the rows that came so far; what follows overwrites what went out.
  void restart();

  /// The part of the source that the result depends on: only its rows are to be added, in order,
  /// and only its columns of them.
  const Box& needed() const { return needed_; }

  /// The next row. REQUIRES: kRowSlack bytes after each plane's end can be read
  void add(const PlanarRow& row);
  void add(const std::uint8_t* rgb);

  /// All of the above.
  void resize(const RgbView& source, const ResizeGoal& goal, RowSink& sink);

 private:
  /// Row `row` of the ring: red; green and blue follow, ring_width_ bytes apart.
  std::uint8_t* ring_row(std::uint32_t row) {
    return ring_.data() + (row & (ring_rows_ - 1)) * 3 * ring_width_;
  }
  void keep(const PlanarRow& row);
  void emit(std::uint32_t y);

  ResizeTable across_;
  ResizeTable down_;
  AcrossPlan across_plan_;
  RowSink* sink_ = nullptr;
  Box needed_;
  bool down_first_ = false;
  std::uint32_t next_in_ = 0;   // row of the source
  std::uint32_t next_out_ = 0;  // row of the window
  std::size_t ring_rows_ = 0;   // a power of two
  std::size_t ring_width_ = 0;  // of a plane in the ring, padded
  std::vector<std::uint8_t> ring_;
  std::vector<std::uint8_t> split_;   // one row of the source, as planes
  std::vector<std::uint8_t> result_;  // one row of the window, as planes
  std::vector<std::uint8_t> tall_;    // one row between the passes, if the vertical one is first
  std::vector<const std::uint8_t*> taps_;
};

}  // namespace headrace
