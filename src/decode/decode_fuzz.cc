// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture: the whole of it, its header, and a crop of it. The first byte chooses
// the transform. A failure must be an error value; the limits keep time and memory small.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "headrace/decode/decoder.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  if (size == 0) return 0;
  const unsigned choice = data[0];
  const ByteSpan picture = std::as_bytes(std::span(data + 1, size - 1));
  DecodeLimits limits;
  limits.pixels = 1U << 20U;
  limits.scans = 20;
  limits.warnings = 100;
  limits.allow_truncated = (choice & 1U) != 0;
  Decoder decoder(limits);
  if (const auto pixels = decoder.decode(picture)) {
    if (pixels->rgb.size() != std::size_t{pixels->width} * pixels->height * 3) __builtin_trap();
  }
  static constexpr std::array kAugments{Augment::random_resized_crop, Augment::center_crop,
                                        Augment::pad_crop, Augment::none};
  static constexpr std::array kLayouts{Layout::nhwc_u8, Layout::nchw_u8, Layout::nchw_f32,
                                       Layout::nchw_f32};
  Transform transform;
  transform.width = 1 + (choice >> 3U);
  transform.height = 20;
  transform.resize = 24;
  transform.augment = kAugments[choice >> 1U & 3U];
  transform.layout = kLayouts[choice >> 3U & 3U];
  transform.grey = (choice & 32U) != 0;
  std::vector<std::byte> out(transform.sample_bytes());
  (void)decoder.decode_into(picture, transform, {choice, 0, size}, out);
  return 0;
}
