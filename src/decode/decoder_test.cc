// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/decoder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>

#include "headrace/base/digest.h"
#include "headrace/decode/resize.h"

namespace headrace {
namespace {

std::string picture(const std::string& file) {
  std::ifstream stream(std::string(HEADRACE_TEST_DATA "/vectors/") + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Transform small(Augment augment, Layout layout) {
  Transform transform;
  transform.augment = augment;
  transform.layout = layout;
  transform.width = 48;
  transform.height = 40;
  transform.resize = 56;
  return transform;
}

std::vector<std::byte> decoded(const std::string& bytes, const Transform& transform,
                               const SampleKey& key = {}) {
  Decoder decoder;
  std::vector<std::byte> out(transform.sample_bytes(), std::byte{0xee});
  const auto done = decoder.decode_into(as_byte_span(bytes), transform, key, out);
  EXPECT_TRUE(done.ok()) << (done.ok() ? "" : done.error().to_string());
  return out;
}

int at(const std::vector<std::byte>& bytes, std::size_t index) {
  return std::to_integer<int>(bytes[index]);
}

TEST(Decoder, LayoutsHoldTheSamePixels) {
  const auto bytes = picture("jpeg/baseline_420.jpg");
  for (const auto augment : {Augment::random_resized_crop, Augment::center_crop, Augment::none}) {
    const auto nhwc = decoded(bytes, small(augment, Layout::nhwc_u8));
    const auto nchw = decoded(bytes, small(augment, Layout::nchw_u8));
    const auto transform = small(augment, Layout::nchw_f32);
    const auto floats = decoded(bytes, transform);
    constexpr std::size_t kPlane = std::size_t{48} * 40;
    for (std::size_t i = 0; i < kPlane; ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        const int pixel = at(nhwc, 3 * i + c);
        ASSERT_EQ(at(nchw, c * kPlane + i), pixel);
        float value = 0;
        std::memcpy(&value, &floats[(c * kPlane + i) * 4], 4);
        const double expected = (pixel / 255.0 - transform.mean[c]) / transform.std[c];
        ASSERT_NEAR(value, expected, 1e-6);
      }
    }
  }
}

TEST(Decoder, ASampleIsTheResizedPartOfTheWholePicture) {
  const auto bytes = picture("jpeg/baseline_422.jpg");
  const auto transform = small(Augment::random_resized_crop, Layout::nhwc_u8);
  class Collect : public RowSink {
   public:
    void row(std::uint32_t y, const PlanarRow& row) override {
      join_rgb(row, 48, rgb.data() + std::size_t{y} * 48 * 3);
    }
    std::vector<std::uint8_t> rgb = std::vector<std::uint8_t>(std::size_t{48} * 40 * 3);
  };
  Decoder decoder;
  for (std::uint64_t sample = 0; sample < 50; ++sample) {
    const auto whole = *decoder.decode(as_byte_span(bytes));
    const auto params = params_for(transform, {1, 0, sample}, whole.width, whole.height);
    const Box& box = params.source;
    Collect expected;
    Resizer().resize({whole.rgb.data() + (std::size_t{box.top} * whole.width + box.left) * 3,
                      std::size_t{whole.width} * 3, box.width, box.height},
                     {48, 40, {0, 0, 48, 40}, params.flip}, expected);
    const auto out = decoded(bytes, transform, {1, 0, sample});
    ASSERT_EQ(std::memcmp(out.data(), expected.rgb.data(), out.size()), 0) << sample;
  }
}

TEST(Decoder, PadCropShowsBlackOutside) {
  const auto bytes = picture("png/size_8x8.png");
  auto transform = small(Augment::pad_crop, Layout::nhwc_u8);
  transform.width = transform.height = 8;
  Decoder decoder;
  const auto whole = *decoder.decode(as_byte_span(bytes));
  for (std::uint64_t sample = 0; sample < 100; ++sample) {
    const auto params = params_for(transform, {5, 1, sample}, 8, 8);
    const auto out = decoded(bytes, transform, {5, 1, sample});
    for (int y = 0; y < 8; ++y) {
      for (int x = 0; x < 8; ++x) {
        const int from_x = params.crop_left + (params.flip ? 7 - x : x);
        const int from_y = params.crop_top + y;
        const bool inside = from_x >= 0 && from_x < 8 && from_y >= 0 && from_y < 8;
        for (int c = 0; c < 3; ++c) {
          const auto index =
              static_cast<std::size_t>(from_y * 8 + from_x) * 3 + static_cast<std::size_t>(c);
          const int expected = inside ? whole.rgb[index] : 0;
          ASSERT_EQ(at(out, static_cast<std::size_t>((y * 8 + x) * 3 + c)), expected);
        }
      }
    }
  }
}

TEST(Decoder, BlackOutsideIsNormalisedToo) {
  const auto bytes = picture("png/size_8x8.png");
  auto transform = small(Augment::center_crop, Layout::nchw_f32);
  transform.resize = 8;
  const auto out = decoded(bytes, transform);
  float corner = 0;
  std::memcpy(&corner, out.data(), 4);
  EXPECT_NEAR(corner, -0.485 / 0.229, 1e-6);
}

TEST(Decoder, GreyIsTheLumaOfThePixels) {
  const auto bytes = picture("png/rgb8.png");
  auto transform = small(Augment::none, Layout::nchw_u8);
  const auto colour = decoded(bytes, transform);
  transform.grey = true;
  const auto grey = decoded(bytes, transform);
  constexpr std::size_t kPlane = std::size_t{48} * 40;
  ASSERT_EQ(grey.size(), kPlane);
  for (std::size_t i = 0; i < kPlane; ++i) {
    const int sum = at(colour, i) * 19595 + at(colour, kPlane + i) * 38470 +
                    at(colour, 2 * kPlane + i) * 7471 + 0x8000;
    ASSERT_EQ(at(grey, i), sum >> 16);
  }
}

TEST(Decoder, AGreyPictureStaysAsItIs) {
  const auto bytes = picture("png/grey8.png");
  auto transform = small(Augment::none, Layout::nchw_u8);
  const auto colour = decoded(bytes, transform);
  transform.grey = true;
  const auto grey = decoded(bytes, transform);
  EXPECT_EQ(std::memcmp(grey.data(), colour.data(), grey.size()), 0);
}

TEST(Decoder, ExtremeShapesBecomeSamples) {
  for (const auto* file : {"jpeg/size_65500x1.jpg", "jpeg/size_1x65500.jpg",
                           "jpeg/size_1x1_2x2.jpg", "webp/size_1x16383.webp", "png/size_7x1.png"}) {
    for (const auto augment :
         {Augment::random_resized_crop, Augment::center_crop, Augment::pad_crop, Augment::none}) {
      decoded(picture(file), small(augment, Layout::nchw_f32));
    }
  }
}

TEST(Decoder, LimitsAreExhausted) {
  const auto bytes = picture("jpeg/baseline_420.jpg");
  DecodeLimits limits;
  limits.pixels = 1000;
  Decoder decoder(limits);
  for (const auto* file : {"jpeg/baseline_420.jpg", "png/rgb8.png", "webp/lossy.webp"}) {
    const auto pixels = decoder.decode(as_byte_span(picture(file)));
    ASSERT_FALSE(pixels.ok()) << file;
    EXPECT_EQ(pixels.error().code(), Code::exhausted);
    EXPECT_NE(pixels.error().cause().find("the limit is 1000 pixels"), std::string::npos);
  }
}

TEST(Decoder, ScansAreLimitedByTheWorkTheyMake) {
  const auto bytes = picture("jpeg/progressive_2082_scans.jpg");
  EXPECT_TRUE(Decoder().decode(as_byte_span(bytes)).ok());  // 48 x 32: little work all the same
  DecodeLimits limits;
  limits.pixels = std::uint64_t{300} * 48 * 32;
  Decoder decoder(limits);
  const auto pixels = decoder.decode(as_byte_span(bytes));
  ASSERT_FALSE(pixels.ok());
  EXPECT_EQ(pixels.error().code(), Code::exhausted);
  EXPECT_NE(pixels.error().cause().find("more than 256 scans"), std::string::npos);
}

TEST(Decoder, WarningsAreCountedByKindAndLimited) {
  const auto bytes = picture("jpeg/progressive_repeated_scan.jpg");
  const auto pixels = Decoder().decode(as_byte_span(bytes));
  ASSERT_TRUE(pixels.ok());
  ASSERT_EQ(pixels->warnings.size(), 1U);
  EXPECT_EQ(pixels->warnings[0],
            "Inconsistent progression sequence for component 0 coefficient 1 (1495 of this kind)");
  DecodeLimits limits;
  limits.warnings = 1000;
  Decoder decoder(limits);
  const auto refused = decoder.decode(as_byte_span(bytes));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::exhausted);
}

TEST(Decoder, IsUsableAfterEveryFailure) {
  const auto good = picture("jpeg/baseline_420.jpg");
  Decoder decoder;
  const auto first = decoder.decode(as_byte_span(good));
  ASSERT_TRUE(first.ok());
  const std::vector<std::uint8_t> expected(first->rgb.begin(), first->rgb.end());
  for (const auto* file : {"jpeg/trunc_base_50.jpg", "jpeg/scan_ff_512.jpg", "jpeg/bits12_rgb.jpg",
                           "jpeg/empty_0_bytes.jpg", "jpeg/only_soi.jpg", "png/trunc_50.png",
                           "webp/trunc_50.webp", "jpeg/bomb_65000x65000.jpg"}) {
    const auto bad = decoder.decode(as_byte_span(picture(file)));
    ASSERT_FALSE(bad.ok()) << file;
    const auto again = decoder.decode(as_byte_span(good));
    ASSERT_TRUE(again.ok()) << file;
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), again->rgb.begin(), again->rgb.end()));
  }
}

class SeekIndexes : public testing::Test {
 protected:
  std::vector<std::byte> record(const std::string& bytes) {
    std::vector<std::byte> index{std::byte{1}};
    const SeekUse use{{}, hash_bytes(as_byte_span(bytes)), &index};
    EXPECT_TRUE(decode(bytes, use));
    return index;
  }
  bool decode(const std::string& bytes, const SeekUse& use, const SampleKey& key = {}) {
    return decoder.decode_into(as_byte_span(bytes), transform, key, out, &use).ok();
  }

  Transform transform = small(Augment::random_resized_crop, Layout::nhwc_u8);
  std::vector<std::byte> out = std::vector<std::byte>(transform.sample_bytes());
  Decoder decoder;
};

TEST_F(SeekIndexes, GiveTheSamePixelsFromFewerBytes) {
  for (const auto* file : {"jpeg/baseline_420.jpg", "jpeg/baseline_444.jpg",
                           "jpeg/baseline_422.jpg", "jpeg/grey.jpg", "jpeg/optimised.jpg"}) {
    const auto bytes = picture(file);
    const auto index = record(bytes);
    ASSERT_FALSE(index.empty()) << file;
    std::vector<std::byte> again{std::byte{1}};
    const SeekUse use{index, hash_bytes(as_byte_span(bytes)), &again};
    std::size_t touched = 0;
    for (std::uint64_t sample = 0; sample < 100; ++sample) {
      const SampleKey key{3, 0, sample};
      const auto expected = decoded(bytes, transform, key);
      ASSERT_TRUE(decode(bytes, use, key));
      ASSERT_EQ(out, expected) << file << ' ' << sample;
      touched += decoder.bytes_touched();
    }
    EXPECT_LT(touched, 100 * bytes.size()) << file;
    EXPECT_TRUE(again.empty());  // it was there already
  }
}

TEST_F(SeekIndexes, OfOtherBytesAreNotUsed) {
  const auto bytes = picture("jpeg/baseline_420.jpg");
  const auto other = picture("jpeg/optimised.jpg");
  const auto others = record(other);
  std::vector<std::byte> index;
  SeekUse use{others, hash_bytes(as_byte_span(bytes)), &index};
  ASSERT_TRUE(decode(bytes, use));
  EXPECT_EQ(out, decoded(bytes, transform));
  EXPECT_EQ(decoder.bytes_touched(), bytes.size());
  EXPECT_FALSE(index.empty());  // made anew
  use = {index, use.payload, nullptr};
  for (std::size_t at = 0; at < index.size(); ++at) {  // any damage: as good as none
    index[at] ^= std::byte{0x10};
    ASSERT_TRUE(decode(bytes, use));
    ASSERT_EQ(out, decoded(bytes, transform)) << at;
    index[at] ^= std::byte{0x10};
  }
}

TEST_F(SeekIndexes, AreNotMadeOfWhatOnlyTheLibraryDecodes) {
  EXPECT_TRUE(record(picture("jpeg/progressive_420.jpg")).empty());
  EXPECT_TRUE(record(picture("jpeg/scan_bitflip_0.jpg")).empty());
  EXPECT_TRUE(record(picture("png/rgb8.png")).empty());
}

TEST(Decoder, StreamedSamplesAreTheSame) {
  const auto bytes = picture("jpeg/baseline_420.jpg");
  Decoder decoder;
  for (const auto layout :
       {Layout::nchw_f32, Layout::nchw_f16, Layout::nchw_bf16, Layout::nchw_u8, Layout::nhwc_u8}) {
    for (const std::uint32_t width : {48U, 49U}) {  // rows that begin at cache lines, and others
      for (const float erase : {0.0F, 1.0F}) {
        auto transform = small(Augment::random_resized_crop, layout);
        transform.width = width;
        transform.erase = erase;
        std::vector<std::byte> cached(transform.sample_bytes());
        std::vector<std::byte> streamed(transform.sample_bytes() + 64);
        void* begin = streamed.data();
        std::size_t room = streamed.size();
        const std::span out(static_cast<std::byte*>(std::align(64, cached.size(), begin, room)),
                            cached.size());
        for (std::uint64_t sample = 0; sample < 10; ++sample) {
          const SampleKey key{4, 0, sample};
          decoder.stream_samples(false);
          ASSERT_TRUE(decoder.decode_into(as_byte_span(bytes), transform, key, cached).ok());
          decoder.stream_samples(true);
          ASSERT_TRUE(decoder.decode_into(as_byte_span(bytes), transform, key, out).ok());
          ASSERT_TRUE(std::ranges::equal(cached, out)) << width << ' ' << sample;
        }
      }
    }
  }
}

TEST(Decoder, OwnDecoderAndLibraryGiveTheSamePixels) {
  DecodeLimits limits;
  limits.library_only = true;
  Decoder library(limits);
  Decoder own;
  for (const auto* file : {"jpeg/baseline_420.jpg", "jpeg/baseline_444.jpg", "jpeg/grey.jpg",
                           "jpeg/baseline_422.jpg", "jpeg/restart_7mcu.jpg", "jpeg/quality_1.jpg",
                           "jpeg/size_17x33_2x2.jpg", "jpeg/scan_bitflip_2.jpg"}) {
    const auto bytes = picture(file);
    for (const auto augment : {Augment::random_resized_crop, Augment::center_crop}) {
      const auto transform = small(augment, Layout::nchw_f32);
      std::vector<std::byte> one(transform.sample_bytes());
      std::vector<std::byte> two(transform.sample_bytes());
      for (std::uint64_t sample = 0; sample < 30; ++sample) {
        const SampleKey key{4, 0, sample};
        ASSERT_TRUE(own.decode_into(as_byte_span(bytes), transform, key, one).ok());
        ASSERT_TRUE(library.decode_into(as_byte_span(bytes), transform, key, two).ok());
        ASSERT_EQ(one, two) << file << ' ' << sample;
      }
    }
  }
}

/// Products with larger steps overflow. Ours wrap on every processor, as the library's do on x86;
/// its code for other processors makes something else of them.
#if defined(__x86_64__)
constexpr bool kLibraryWraps = true;
#else
constexpr bool kLibraryWraps = false;
#endif

bool in_a_step_of_a_quantiser(std::string_view jpeg, std::size_t place) {
  for (auto at = jpeg.find("\xff\xdb"); at < place; at = jpeg.find("\xff\xdb", at + 1)) {
    const auto high = static_cast<unsigned char>(jpeg[at + 2]);
    const auto low = static_cast<unsigned char>(jpeg[at + 3]);
    if (place > at + 4 && place < at + 2 + (std::size_t{high} << 8U) + low) return true;
  }
  return false;
}

TEST(Decoder, WhateverTheHeadersSayItIsWhatTheLibraryMakesOfIt) {
  DecodeLimits limits;
  limits.pixels = 1U << 16U;
  Decoder own(limits);
  limits.library_only = true;
  Decoder library(limits);
  const auto sound = picture("jpeg/size_17x33_2x2.jpg");
  const auto scan = sound.find("\xff\xda");
  ASSERT_NE(scan, std::string::npos);
  int decoded = 0;
  Hash128 wrapped{};
  for (std::size_t i = 2; i < scan + 14; ++i) {
    for (const int change : {0x01, 0x02, 0x10, 0x80, 0xff}) {
      auto bytes = sound;
      bytes[i] = static_cast<char>(bytes[i] ^ change);
      const auto expected = library.decode(as_byte_span(bytes));
      const auto pixels = own.decode(as_byte_span(bytes));
      ASSERT_EQ(pixels.ok(), expected.ok()) << i << ' ' << change;
      if (!pixels.ok()) continue;
      ++decoded;
      ASSERT_EQ(pixels->warnings, expected->warnings) << i << ' ' << change;
      if (in_a_step_of_a_quantiser(sound, i)) {
        wrapped += hash_bytes(std::as_bytes(std::span(pixels->rgb)));
        if (!kLibraryWraps) continue;
      }
      ASSERT_TRUE(std::ranges::equal(pixels->rgb, expected->rgb)) << i << ' ' << change;
    }
  }
  EXPECT_GT(decoded, 500);
  EXPECT_EQ(wrapped.to_hex(), "a44e361fdac9dbe0882476adcce09895") << "on every processor";
}

TEST(Decoder, ABufferOfTheWrongSizeIsInvalid) {
  const auto bytes = picture("jpeg/baseline_420.jpg");
  std::vector<std::byte> out(7);
  Decoder decoder;
  const auto done = decoder.decode_into(as_byte_span(bytes), Transform{}, {}, out);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::invalid);
}

// Promise X1: A picture that lacks a table is not decoded by that of another picture.
TEST(Decoder, NoTableOutlivesItsPicture) {
  const auto ordinary = picture("jpeg/baseline_444.jpg");
  auto without_dqt = ordinary;
  for (auto at = without_dqt.find("\xff\xdb"); at != std::string::npos;
       at = without_dqt.find("\xff\xdb")) {
    const auto high = static_cast<unsigned char>(without_dqt[at + 2]);
    const auto low = static_cast<unsigned char>(without_dqt[at + 3]);
    without_dqt.erase(at, 2 + high * 256U + low);
  }
  for (const auto& odd :
       {picture("jpeg/missing_dht.jpg"), without_dqt, picture("jpeg/progressive_420.jpg")}) {
    ASSERT_FALSE(odd.empty());
    DecodeLimits by_library;
    by_library.library_only = true;
    Decoder fresh(by_library);
    Decoder used(by_library);
    ASSERT_TRUE(used.decode(as_byte_span(ordinary)).ok());
    const auto want = fresh.decode(as_byte_span(odd));
    const auto got = used.decode(as_byte_span(odd));
    ASSERT_EQ(got.ok(), want.ok());
    if (!want.ok()) {
      EXPECT_EQ(got.error().to_string(), want.error().to_string());
    } else {
      EXPECT_TRUE(std::equal(got->rgb.begin(), got->rgb.end(), want->rgb.begin(), want->rgb.end()));
      EXPECT_EQ(got->warnings, want->warnings);
    }
  }
}

TEST(Decoder, ErasedPixelsAreZerosInEveryLayout) {
  const auto bytes = picture("jpeg/baseline_444.jpg");
  for (const auto layout : {Layout::nhwc_u8, Layout::nchw_u8, Layout::nchw_f32, Layout::nchw_f16}) {
    auto transform = small(Augment::random_resized_crop, layout);
    const auto whole = decoded(bytes, transform, {1, 0, 3});
    transform.erase = 1;
    const auto erased = decoded(bytes, transform, {1, 0, 3});
    const Box box = params_for(transform, {1, 0, 3}, 227, 149).erase;
    ASSERT_GT(box.width, 0U);
    const std::size_t size = bytes_of_value(layout);
    for (std::size_t i = 0; i < whole.size(); ++i) {
      const std::size_t value = i / size;
      const std::size_t pixel =
          layout == Layout::nhwc_u8 ? value / 3 : value % (std::size_t{48} * 40);
      const std::size_t x = pixel % 48;
      const std::size_t y = pixel / 48;
      const bool inside =
          x >= box.left && x < box.left + box.width && y >= box.top && y < box.top + box.height;
      ASSERT_EQ(erased[i], inside ? std::byte{0} : whole[i]) << x << ',' << y;
    }
  }
}

TEST(Decoder, ACropOfTooSmallAPictureSaysWhatToDo) {
  auto transform = small(Augment::crop, Layout::nhwc_u8);
  transform.resize = 39;  // below the crop's height of 40
  Decoder decoder;
  std::vector<std::byte> out(transform.sample_bytes());
  const auto bytes = picture("jpeg/baseline_444.jpg");
  const auto done = decoder.decode_into(as_byte_span(bytes), transform, {}, out);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::invalid);
  EXPECT_NE(done.error().to_string().find("--resize"), std::string::npos);
}

// Promise X3: A seek index changes no pixel.
TEST(Decoder, AnIndexChangesNoPixelOfAnyAugmentation) {
  for (const char* name : {"jpeg/exif_6.jpg", "jpeg/exif_7.jpg", "jpeg/icc_srgb.jpg"}) {
    const auto bytes = picture(name);
    const Hash128 payload = hash_bytes(as_byte_span(bytes));
    for (const auto augment : {Augment::random_resized_crop, Augment::crop_color_transform}) {
      auto transform = small(augment, Layout::nhwc_u8);
      transform.orient = Orient::exif;
      transform.colours = Colours::srgb;
      transform.jitter = {0.4F, 0.4F, 0.4F, 0.1F};
      Decoder decoder;
      std::vector<std::byte> index;
      std::vector<std::byte> out(transform.sample_bytes());
      const SeekUse make{{}, payload, &index};
      for (std::uint64_t sample = 0; sample < 8; ++sample) {
        const SampleKey key{2, 0, sample};
        const SeekUse use{index, payload, nullptr};
        ASSERT_TRUE(
            decoder
                .decode_into(as_byte_span(bytes), transform, key, out, sample == 0 ? &make : &use)
                .ok());
        ASSERT_EQ(out, decoded(bytes, transform, key)) << name;
      }
    }
  }
}

}  // namespace
}  // namespace headrace
