// SPDX-License-Identifier: Apache-2.0
/// \file The last step of a sample: finished rows into the layout of the batch.
///
/// Not thread-safe: one writer a sample. Floats are pixel * (1 / (255 std)) - mean / std with both
/// factors rounded to float once: within 1e-6 of (pixel / 255 - mean) / std, the same on every
/// machine, and one multiplication and one addition a sample.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "headrace/decode/resize.h"
#include "headrace/decode/transform.h"

namespace headrace {

/// Whether a sample goes past the processor's caches, for now in layout nchw_f32 alone: right where
/// a batch is larger than they are.
enum class Stores { cached, streamed };

class SampleWriter : public RowSink {
 public:
  /// `window` is where the rows lie in the sample; what is outside stays zero (before the
  /// normalisation). REQUIRES: out.size() == transform.sample_bytes()
  SampleWriter(const Transform& transform, const Box& window, std::span<std::byte> out,
               Stores stores = Stores::cached);
  SampleWriter(const SampleWriter&) = delete;
  SampleWriter& operator=(const SampleWriter&) = delete;
  ~SampleWriter() override;  ///< what was written can be handed over then

  void row(std::uint32_t y, const PlanarRow& row) override;

 private:
  void clear();
  /// A row of one channel, to value `at` of the sample, as the layout says.
  void put(const std::uint8_t* row, std::uint32_t width, std::size_t channel, std::size_t at);
  template <class T>
  T* values(std::size_t at) {
    return static_cast<T*>(static_cast<void*>(out_.data())) + at;
  }

  const Transform& transform_;
  Box window_;
  std::span<std::byte> out_;
  Stores stores_;
  std::array<float, 3> scale_{};
  std::array<float, 3> bias_{};
};

}  // namespace headrace
