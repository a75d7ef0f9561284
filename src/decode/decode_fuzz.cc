// SPDX-License-Identifier: Apache-2.0
// Any bytes as a picture: the whole of it, and a crop of it, by our own decoder and by the
// libraries alone: verdict and pixels must be the same, also when the crop is read by a seek index
// that the first decode made. The first byte chooses the transform, the length the vector unit. A
// failure must be an error value; the limits keep time and memory small.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "headrace/decode/decoder.h"
#include "headrace/decode/vector_units.h"

namespace headrace {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

Transform transform_of(unsigned choice) {
  static constexpr std::array kAugments{Augment::random_resized_crop, Augment::center_crop,
                                        Augment::pad_crop, Augment::crop_color_transform};
  static constexpr std::array kLayouts{Layout::nhwc_u8, Layout::nchw_u8, Layout::nchw_f32,
                                       Layout::nchw_f32};
  Transform transform;
  transform.width = 1 + (choice >> 3U);
  transform.height = 20;
  transform.resize = 24;
  transform.augment = kAugments[choice >> 1U & 3U];
  transform.layout = kLayouts[choice >> 3U & 3U];
  transform.grey = (choice & 32U) != 0;
  if ((choice & 64U) != 0) transform.orient = Orient::exif;
  if ((choice & 128U) != 0) {
    transform.colours = Colours::srgb;
    transform.jitter = {0.4F, 0.4F, 0.4F, 0.1F};
    transform.erase = 0.5F;
  }
  return transform;
}

void compare_whole(Decoder& own, Decoder& library, ByteSpan picture) {
  const auto expected = library.decode(picture);
  const auto pixels = own.decode(picture);
  require(pixels.ok() == expected.ok());
  if (!pixels.ok()) return;
  require(pixels->rgb.size() == std::size_t{pixels->width} * pixels->height * 3);
  require(pixels->warnings == expected->warnings);
  require(std::equal(pixels->rgb.begin(), pixels->rgb.end(), expected->rgb.begin(),
                     expected->rgb.end()));
}

void compare_samples(Decoder& own, Decoder& library, ByteSpan picture, unsigned choice) {
  const Transform transform = transform_of(choice);
  const Hash128 payload = hash_bytes(picture);
  std::vector<std::byte> expected(transform.sample_bytes());
  std::vector<std::byte> out(transform.sample_bytes());
  std::vector<std::byte> index;
  SeekUse seek{{}, payload, &index};
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    const SampleKey key{choice, 0, sample};
    const bool decodes = library.decode_into(picture, transform, key, expected).ok();
    require(own.decode_into(picture, transform, key, out, &seek).ok() == decodes);
    if (!decodes) return;
    require(out == expected);
    seek = {index, payload, nullptr};  // from the second sample on, by the index
  }
}

}  // namespace
}  // namespace headrace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headrace;
  if (size == 0) return 0;
  const unsigned choice = data[0];
  (void)use_vector_unit(kVectorUnits[size % kVectorUnits.size()]);
  const ByteSpan picture = std::as_bytes(std::span(data + 1, size - 1));
  DecodeLimits limits;
  limits.pixels = 1U << 18U;
  limits.scans = 20;
  limits.warnings = 100;
  limits.allow_truncated = (choice & 1U) != 0;
  Decoder own(limits);
  limits.library_only = true;
  Decoder library(limits);
  compare_whole(own, library, picture);
  compare_samples(own, library, picture, choice);
  return 0;
}
