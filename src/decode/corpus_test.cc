// SPDX-License-Identifier: Apache-2.0
// A corpus that libjpeg-turbo makes by a fixed seed: any crop of any of its pictures, resized by
// any filter, is what libjpeg-turbo's whole picture gives; with and without a seek index, and of
// the bytes that part_bytes.h names alone, on every vector unit. (That our resize is Pillow's:
// resize_test.cc, and tests/interop for whole samples.)
//
// HEADRACE_CORPUS=PICTURES,CROPS makes it as large as asked: scripts/test-long takes 500,20.
#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
// jpeglib.h needs FILE declared before it.
#include <jpeglib.h>

#include "headrace/base/random.h"
#include "headrace/decode/decoder.h"
#include "headrace/decode/part_bytes.h"

namespace headrace {
namespace {

struct Extent {
  std::uint64_t pictures = 25, crops = 4;
};

Extent extent() {
  Extent extent;
  if (const char* text = std::getenv("HEADRACE_CORPUS")) {  // NOLINT(concurrency-mt-unsafe)
    (void)std::sscanf(text, "%lu,%lu", &extent.pictures, &extent.crops);  // NOLINT(cert-err34-c)
  }
  return extent;
}

struct Kind {
  int components, h, v;
};
constexpr std::array kKinds{Kind{3, 2, 2}, Kind{3, 1, 1}, Kind{3, 2, 1}, Kind{1, 1, 1},
                            Kind{3, 1, 2}, Kind{3, 4, 1}, Kind{3, 2, 2}, Kind{3, 1, 1}};

/// Slopes, edges and noise, more of one here and of another there.
void paint(Random& random, int width, int height, int components, std::vector<unsigned char>& out) {
  const auto noise = random.below(60) + 1;
  const auto slope = random.uniform(-2.0, 2.0);
  const auto stripe = 3 + random.below(40);
  out.resize(static_cast<std::size_t>(width) * static_cast<std::size_t>(height) *
             static_cast<std::size_t>(components));
  std::size_t at = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < components; ++c) {
        const auto wave = static_cast<int>(slope * (x + c * 40) + (2.0 - slope) * y);
        const bool bright = (static_cast<std::uint64_t>(x + 2 * y) / stripe) % 2 == 0;
        const int value =
            (wave & 255) / 2 + (bright ? 90 : 0) + static_cast<int>(random.below(noise));
        out[at++] = static_cast<unsigned char>(value > 255 ? 255 : value);
      }
    }
  }
}

std::vector<std::byte> encode(Random& random) {
  const Kind kind = kKinds[random.below(kKinds.size())];
  const bool small = random.below(5) == 0;
  const auto width = static_cast<int>(1 + random.below(small ? 40 : 420));
  const auto height = static_cast<int>(1 + random.below(small ? 40 : 420));
  std::vector<unsigned char> pixels;
  paint(random, width, height, kind.components, pixels);
  jpeg_compress_struct c{};
  jpeg_error_mgr errors{};
  c.err = jpeg_std_error(&errors);
  jpeg_create_compress(&c);
  unsigned char* out = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&c, &out, &size);
  c.image_width = static_cast<JDIMENSION>(width);
  c.image_height = static_cast<JDIMENSION>(height);
  c.input_components = kind.components;
  c.in_color_space = kind.components == 3 ? JCS_RGB : JCS_GRAYSCALE;
  jpeg_set_defaults(&c);
  jpeg_set_quality(&c, static_cast<int>(1 + random.below(100)), TRUE);
  c.comp_info[0].h_samp_factor = kind.h;
  c.comp_info[0].v_samp_factor = kind.v;
  c.optimize_coding = random.below(2) == 0 ? TRUE : FALSE;
  if (random.below(5) == 0) c.restart_interval = static_cast<unsigned>(1 + random.below(30));
  if (random.below(10) == 0) jpeg_simple_progression(&c);
  jpeg_start_compress(&c, TRUE);
  const auto stride = static_cast<std::size_t>(width) * static_cast<std::size_t>(kind.components);
  for (std::size_t y = 0; y < static_cast<std::size_t>(height); ++y) {
    unsigned char* row = pixels.data() + y * stride;
    jpeg_write_scanlines(&c, &row, 1);
  }
  jpeg_finish_compress(&c);
  const auto* bytes = static_cast<const std::byte*>(static_cast<const void*>(out));
  std::vector<std::byte> result(bytes, bytes + size);
  jpeg_destroy_compress(&c);
  std::free(out);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg's own
  return result;
}

Transform transform_of(Random& random) {
  constexpr std::array kFilters{Filter::bilinear, Filter::bicubic, Filter::lanczos,
                                Filter::box,      Filter::hamming, Filter::nearest};
  Transform transform;
  transform.width = static_cast<std::uint32_t>(1 + random.below(260));
  transform.height = static_cast<std::uint32_t>(1 + random.below(260));
  transform.filter = random.below(2) == 0 ? Filter::bilinear : kFilters[random.below(6)];
  transform.layout = random.below(2) == 0 ? Layout::nhwc_u8 : Layout::nchw_f32;
  transform.pass_order = random.below(4) == 0 ? PassOrder::pillow13 : PassOrder::pillow12;
  return transform;
}

/// Noise wherever the runs are not.
std::vector<std::byte> only(ByteSpan bytes, std::span<const jpeg::ByteRun> runs) {
  std::vector<std::byte> part(bytes.size());
  for (std::size_t i = 0; i < part.size(); ++i) part[i] = static_cast<std::byte>(i * 37 + 11);
  for (const jpeg::ByteRun& run : runs) {
    std::ranges::copy(bytes.subspan(run.begin, run.end - run.begin),
                      part.begin() + static_cast<std::ptrdiff_t>(run.begin));
  }
  return part;
}

TEST(Corpus, EveryCropIsWhatLibjpegTurboGives) {
  const Extent extent_asked = extent();
  DecodeLimits by_library;
  by_library.library_only = true;
  Decoder own, library(by_library);
  const auto targets = hwy::SupportedAndGeneratedTargets();
  std::uint64_t indexed = 0;
  for (std::uint64_t picture = 0; picture < extent_asked.pictures; ++picture) {
    Random random(mix_key(picture, 0x636f7270, 0, 0));
    const auto bytes = encode(random);
    const Hash128 payload = hash_bytes(bytes);
    for (std::uint64_t crop = 0; crop < extent_asked.crops; ++crop) {
      SCOPED_TRACE(testing::Message() << "picture " << picture << " crop " << crop);
      const Transform transform = transform_of(random);
      const SampleKey key{7, crop, picture};
      std::vector<std::byte> want(transform.sample_bytes()), got(transform.sample_bytes());
      hwy::SetSupportedTargetsForTest(0);
      ASSERT_TRUE(library.decode_into(bytes, transform, key, want).ok());
      std::vector<std::byte> index;
      for (const auto target : targets) {
        hwy::SetSupportedTargetsForTest(target);
        SCOPED_TRACE(hwy::TargetName(target));
        const SeekUse first{{}, payload, &index};
        ASSERT_TRUE(own.decode_into(bytes, transform, key, got, &first).ok());
        ASSERT_EQ(got, want) << "without an index";
        if (index.empty()) continue;
        const SeekUse again{index, payload, nullptr};
        std::fill(got.begin(), got.end(), std::byte{0});
        ASSERT_TRUE(own.decode_into(bytes, transform, key, got, &again).ok());
        ASSERT_EQ(got, want) << "with an index";
        ++indexed;
        const auto outline = own.outline();
        ASSERT_TRUE(outline);
        const auto needed = bytes_needed(*outline, bytes.size(), transform, key, index, payload);
        ASSERT_FALSE(needed.empty());
        const auto part = only(bytes, needed);
        const SeekUse some{index, payload, nullptr, needed};
        std::fill(got.begin(), got.end(), std::byte{0});
        ASSERT_TRUE(own.decode_into(part, transform, key, got, &some).ok());
        ASSERT_EQ(got, want) << "of what it needs alone";
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
  EXPECT_GT(indexed, extent_asked.pictures);  // most pictures can have an index
}

}  // namespace
}  // namespace headrace
