// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/store.h"

#include <algorithm>
#include <cstring>

namespace headrace {

namespace {

constexpr std::uint32_t kPiece = 256;  // pixels turned grey at a time

/// Pillow's RGB to L: ITU-R 601 in 16 bits.
void to_grey(const PlanarRow& row, std::uint32_t from, std::uint32_t width, std::uint8_t* out) {
  for (std::uint32_t x = 0; x < width; ++x) {
    const std::uint32_t sum =
        row[0][from + x] * 19595U + row[1][from + x] * 38470U + row[2][from + x] * 7471U + 0x8000U;
    out[x] = static_cast<std::uint8_t>(sum >> 16U);
  }
}

}  // namespace

SampleWriter::SampleWriter(const Transform& transform, const Box& window, std::span<std::byte> out)
    : transform_(transform), window_(window), out_(out) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double deviation = transform.std[c];
    scale_[c] = static_cast<float>(1.0 / (255.0 * deviation));
    bias_[c] = static_cast<float>(-double{transform.mean[c]} / deviation);
  }
  if (window.width < transform.width || window.height < transform.height) clear();
}

std::uint8_t* SampleWriter::bytes(std::size_t at) {
  return static_cast<std::uint8_t*>(static_cast<void*>(out_.data())) + at;
}

float* SampleWriter::floats(std::size_t at) {
  return static_cast<float*>(static_cast<void*>(out_.data())) + at;
}

void SampleWriter::row(std::uint32_t y, const PlanarRow& row) {
  const std::size_t line = (std::size_t{window_.top} + y) * transform_.width + window_.left;
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  if (transform_.grey) {
    std::array<std::uint8_t, kPiece> grey{};
    for (std::uint32_t x = 0; x < window_.width; x += kPiece) {
      const auto size = std::min(kPiece, window_.width - x);
      to_grey(row, x, size, grey.data());
      if (transform_.layout == Layout::nchw_f32) {
        to_float(grey.data(), size, scale_[0], bias_[0], floats(line + x));
      } else {
        std::memcpy(bytes(line + x), grey.data(), size);
      }
    }
    return;
  }
  if (transform_.layout == Layout::nhwc_u8) return join_rgb(row, window_.width, bytes(line * 3));
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t at = c * plane + line;
    if (transform_.layout == Layout::nchw_u8) {
      std::memcpy(bytes(at), row[c], window_.width);
    } else {
      to_float(row[c], window_.width, scale_[c], bias_[c], floats(at));
    }
  }
}

void SampleWriter::clear() {
  if (transform_.layout != Layout::nchw_f32) {
    std::fill(out_.begin(), out_.end(), std::byte{0});
    return;
  }
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  for (std::size_t c = 0; c < transform_.channels(); ++c) {
    std::fill_n(floats(c * plane), plane, bias_[c]);
  }
}

}  // namespace headrace
