// SPDX-License-Identifier: Apache-2.0
/// \file The last step of a sample: rows of 8-bit RGB into the layout of the batch.
///
/// Thread-safe: reads only what it was made with. Floats are pixel * (1 / (255 std)) - mean / std
/// with both factors rounded to float once: within 1e-6 of (pixel / 255 - mean) / std, the same
/// on every machine, and one multiplication and one addition a sample.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "headrace/decode/transform.h"

namespace headrace {

/// Writes `rows` rows of RGB, of the transform's width, from output row `top` on.
class SampleWriter {
 public:
  SampleWriter(const Transform& transform, std::span<std::byte> out);

  /// `left` output columns on are written with `width` pixels of `rgb`.
  void write(std::uint32_t row, std::uint32_t left, std::uint32_t width, const std::uint8_t* rgb);
  /// Black (zero before normalisation) everywhere.
  void clear();

 private:
  const Transform& transform_;
  std::span<std::byte> out_;
  std::array<float, 3> scale_{};
  std::array<float, 3> bias_{};
};

}  // namespace headrace
