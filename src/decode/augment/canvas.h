// SPDX-License-Identifier: Apache-2.0
/// \file A small picture as three planes in memory: what augmentations of pixels work on.
///
/// Not thread-safe: one a thread; its memory is kept, so that steady state allocates nothing.
/// Samples that need no such augmentation never come here: their rows go straight to the batch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "headrace/decode/resize.h"

namespace headrace {

class Canvas {
 public:
  /// All zero: what lies outside a picture.
  void reset(std::uint32_t width, std::uint32_t height) {
    width_ = width;
    height_ = height;
    for (auto& plane : planes_) plane.assign(pixels() + kRowSlack, 0);
  }

  std::uint32_t width() const { return width_; }
  std::uint32_t height() const { return height_; }
  std::size_t pixels() const { return std::size_t{width_} * height_; }
  /// Of channel 0, 1, 2: red, green, blue.
  std::span<std::uint8_t> plane(std::size_t channel) {
    return std::span(planes_[channel]).first(pixels());
  }
  std::span<const std::uint8_t> plane(std::size_t channel) const {
    return std::span(planes_[channel]).first(pixels());
  }
  /// kRowSlack bytes behind its end may be read.
  PlanarRow row(std::uint32_t y) const {
    const std::size_t at = std::size_t{y} * width_;
    return {planes_[0].data() + at, planes_[1].data() + at, planes_[2].data() + at};
  }

 private:
  std::uint32_t width_ = 0, height_ = 0;
  std::array<std::vector<std::uint8_t>, 3> planes_;
};

/// Draws rows into a canvas, from (left, top) on. REQUIRES: they lie within
class CanvasRows : public RowSink {
 public:
  CanvasRows(Canvas& canvas, const Box& window) : canvas_(canvas), window_(window) {}

  void row(std::uint32_t y, const PlanarRow& row) override {
    const std::size_t at = (std::size_t{window_.top} + y) * canvas_.width() + window_.left;
    for (std::size_t c = 0; c < 3; ++c) {
      std::copy_n(row[c], window_.width, canvas_.plane(c).data() + at);
    }
  }

 private:
  Canvas& canvas_;
  Box window_;
};

}  // namespace headrace
