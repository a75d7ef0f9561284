// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/store.h"

#include <algorithm>
#include <cstring>

#include "headrace/decode/half_kernels.h"

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

SampleWriter::SampleWriter(const Transform& transform, const Box& window, std::span<std::byte> out,
                           Stores stores)
    : transform_(transform), window_(window), out_(out), stores_(stores) {
  for (std::size_t c = 0; c < 3; ++c) {
    const double deviation = transform.std[c];
    scale_[c] = static_cast<float>(1.0 / (255.0 * deviation));
    bias_[c] = static_cast<float>(-double{transform.mean[c]} / deviation);
  }
  if (window.width < transform.width || window.height < transform.height) clear();
}

SampleWriter::~SampleWriter() {
  if (stores_ == Stores::streamed) fence_streams();
}

void SampleWriter::put(const std::uint8_t* row, std::uint32_t width, std::size_t channel,
                       std::size_t at) {
  const float scale = scale_[channel];
  const float bias = bias_[channel];
  switch (transform_.layout) {
    case Layout::nchw_f32:
      return stores_ == Stores::streamed ? stream_float(row, width, scale, bias, values<float>(at))
                                         : to_float(row, width, scale, bias, values<float>(at));
    case Layout::nchw_f16:
      return to_half(row, width, scale, bias, values<std::uint16_t>(at));
    case Layout::nchw_bf16:
      return to_bfloat(row, width, scale, bias, values<std::uint16_t>(at));
    case Layout::nhwc_u8:  // a row of one channel is the same in either order
    case Layout::nchw_u8:
      std::memcpy(values<std::uint8_t>(at), row, width);
  }
}

void SampleWriter::row(std::uint32_t y, const PlanarRow& row) {
  const std::size_t line = (std::size_t{window_.top} + y) * transform_.width + window_.left;
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  if (transform_.grey) {
    std::array<std::uint8_t, kPiece> grey{};
    for (std::uint32_t x = 0; x < window_.width; x += kPiece) {
      const auto size = std::min(kPiece, window_.width - x);
      to_grey(row, x, size, grey.data());
      put(grey.data(), size, 0, line + x);
    }
    return;
  }
  if (transform_.layout == Layout::nhwc_u8) {
    return join_rgb(row, window_.width, values<std::uint8_t>(line * 3));
  }
  for (std::size_t c = 0; c < 3; ++c) put(row[c], window_.width, c, c * plane + line);
}

/// Zero before the normalisation.
void SampleWriter::clear() {
  std::fill(out_.begin(), out_.end(), std::byte{0});
  if (bytes_of_value(transform_.layout) == 1) return;
  const std::array<std::uint8_t, kPiece> zeros{};
  const std::size_t plane = std::size_t{transform_.width} * transform_.height;
  for (std::size_t c = 0; c < transform_.channels(); ++c) {
    for (std::size_t x = 0; x < plane; x += kPiece) {
      const auto size = std::min<std::size_t>(kPiece, plane - x);
      put(zeros.data(), static_cast<std::uint32_t>(size), c, c * plane + x);
    }
  }
}

}  // namespace headrace
