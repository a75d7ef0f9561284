// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/store.h"

#include <algorithm>
#include <cstring>

namespace headrace {

namespace {

/// Pillow's RGB to L: ITU-R 601 in 16 bits.
std::uint8_t grey_of(const std::uint8_t* rgb) {
  return static_cast<std::uint8_t>((rgb[0] * 19595U + rgb[1] * 38470U + rgb[2] * 7471U + 0x8000U) >>
                                   16U);
}

std::uint8_t channel(const std::uint8_t* pixel, std::uint32_t c, bool grey) {
  return grey ? grey_of(pixel) : pixel[c];
}

}  // namespace

SampleWriter::SampleWriter(const Transform& transform, std::span<std::byte> out)
    : transform_(transform), out_(out) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double deviation = transform.std[c];
    scale_[c] = static_cast<float>(1.0 / (255.0 * deviation));
    bias_[c] = static_cast<float>(-double{transform.mean[c]} / deviation);
  }
}

void SampleWriter::write(std::uint32_t row, std::uint32_t left, std::uint32_t width,
                         const std::uint8_t* rgb) {
  const bool grey = transform_.grey;
  const std::uint32_t channels = transform_.channels();
  const std::size_t line = std::size_t{row} * transform_.width + left;
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  if (transform_.layout == Layout::nhwc_u8) {
    auto* to = static_cast<std::uint8_t*>(static_cast<void*>(out_.data())) + line * channels;
    if (!grey) {
      std::memcpy(to, rgb, std::size_t{width} * 3);
      return;
    }
    for (std::uint32_t x = 0; x < width; ++x) to[x] = grey_of(rgb + std::size_t{x} * 3);
    return;
  }
  for (std::uint32_t c = 0; c < channels; ++c) {
    const std::size_t at = c * plane + line;
    if (transform_.layout == Layout::nchw_u8) {
      auto* to = static_cast<std::uint8_t*>(static_cast<void*>(out_.data())) + at;
      for (std::uint32_t x = 0; x < width; ++x) to[x] = channel(rgb + std::size_t{x} * 3, c, grey);
    } else {
      auto* to = static_cast<float*>(static_cast<void*>(out_.data())) + at;
      const float scale = scale_[c];
      const float bias = bias_[c];
      for (std::uint32_t x = 0; x < width; ++x) {
        to[x] = static_cast<float>(channel(rgb + std::size_t{x} * 3, c, grey)) * scale + bias;
      }
    }
  }
}

void SampleWriter::clear() {
  if (transform_.layout != Layout::nchw_f32) {
    std::fill(out_.begin(), out_.end(), std::byte{0});
    return;
  }
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  auto* to = static_cast<float*>(static_cast<void*>(out_.data()));
  for (std::uint32_t c = 0; c < transform_.channels(); ++c) {
    std::fill_n(to + c * plane, plane, bias_[c]);
  }
}

}  // namespace headrace
