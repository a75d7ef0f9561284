// SPDX-License-Identifier: Apache-2.0
// What a sample needs of its picture is enough, and the decoder looks at nothing else.
#include "headrace/decode/part_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "headrace/base/random.h"
#include "headrace/decode/jpeg_encoder.h"
#include "headrace/decode/resize_table.h"

namespace headrace {
namespace {

/// A photograph's size in bytes a pixel, about.
std::vector<std::byte> photograph(std::uint32_t width, std::uint32_t height) {
  std::vector<std::uint8_t> rgb(std::size_t{width} * height * 3);
  Random random(width);
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    rgb[i] = static_cast<std::uint8_t>(i / 7 % 200 + random.below(40));
  }
  return *encode_jpeg({rgb.data(), std::size_t{width} * 3, width, height}, 90);
}

std::vector<std::byte> file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  const auto bytes = as_byte_span(text.view());
  return {bytes.begin(), bytes.end()};
}

std::vector<std::byte> poisoned(ByteSpan bytes, std::span<const jpeg::ByteRun> runs) {
  std::vector<std::byte> part(bytes.size(), std::byte{0xff});
  for (const jpeg::ByteRun& run : runs) {
    std::ranges::copy(bytes.subspan(run.begin, run.end - run.begin),
                      part.begin() + static_cast<std::ptrdiff_t>(run.begin));
  }
  return part;
}

std::uint64_t size_of(std::span<const jpeg::ByteRun> runs) {
  std::uint64_t size = 0;
  for (const jpeg::ByteRun& run : runs) size += run.end - run.begin;
  return size;
}

/// A picture that was decoded once, and what that found out.
struct Seen {
  Seen(std::vector<std::byte> picture, const Transform& how)
      : bytes(std::move(picture)), transform(how), payload(hash_bytes(bytes)) {
    std::vector<std::byte> out(transform.sample_bytes());
    const SeekUse use{{}, payload, &index};
    decodes = decoder.decode_into(bytes, transform, {}, out, &use).ok();
    outline = decoder.outline();
  }
  std::vector<jpeg::ByteRun> needed(const SampleKey& key) const {
    if (!outline) return {};
    return bytes_needed(*outline, bytes.size(), transform, key, index, payload);
  }
  std::vector<std::byte> whole(const SampleKey& key) {
    std::vector<std::byte> out(transform.sample_bytes());
    EXPECT_TRUE(decoder.decode_into(bytes, transform, key, out).ok());
    return out;
  }
  Result<std::vector<std::byte>> in_parts(const SampleKey& key,
                                          std::span<const jpeg::ByteRun> there) {
    std::vector<std::byte> out(transform.sample_bytes());
    const SeekUse use{index, payload, nullptr, there};
    HEADRACE_TRY(decoder.decode_into(poisoned(bytes, there), transform, key, out, &use));
    return out;
  }

  const std::vector<std::byte> bytes;
  const Transform transform;
  const Hash128 payload;
  Decoder decoder;
  std::vector<std::byte> index;
  std::optional<PictureOutline> outline;
  bool decodes = false;
};

Transform small(Augment augment, Filter filter = Filter::bilinear) {
  Transform transform{.augment = augment, .width = 96, .height = 80, .filter = filter};
  transform.layout = Layout::nhwc_u8;
  return transform;
}

TEST(PartBytes, AreEnoughForEveryAugmentationAndFilter) {
  for (const auto augment :
       {Augment::random_resized_crop, Augment::center_crop, Augment::pad_crop, Augment::none,
        Augment::crop, Augment::crop_color, Augment::crop_color_transform}) {
    for (const auto filter : {Filter::nearest, Filter::box, Filter::bilinear, Filter::hamming,
                              Filter::bicubic, Filter::lanczos}) {
      Seen seen(photograph(331, 263), small(augment, filter));
      ASSERT_FALSE(seen.index.empty());
      for (std::uint64_t epoch = 0; epoch < 25; ++epoch) {
        const SampleKey key{.seed = 5, .epoch = epoch, .sample_id = 3};
        const auto needed = seen.needed(key);
        ASSERT_FALSE(needed.empty());
        const auto got = seen.in_parts(key, needed);
        ASSERT_TRUE(got.ok()) << got.error().to_string();
        EXPECT_EQ(*got, seen.whole(key)) << seen.transform.to_text() << " epoch " << epoch;
      }
    }
  }
}

TEST(PartBytes, AreFewerThanAllForCrops) {
  Seen seen(photograph(500, 375), small(Augment::random_resized_crop));
  std::uint64_t sum = 0;
  for (std::uint64_t epoch = 0; epoch < 100; ++epoch) {
    sum += size_of(seen.needed({.seed = 1, .epoch = epoch, .sample_id = 1}));
  }
  EXPECT_LT(sum, 80 * seen.bytes.size()) << "of 100 times all of it";
  EXPECT_GT(sum, 20 * seen.bytes.size());
}

TEST(PartBytes, OfEveryVectorGiveThePixelsOfTheWhole) {
  int in_parts = 0, whole = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(HEADRACE_TEST_DATA "/vectors/jpeg")) {
    SCOPED_TRACE(entry.path().filename());
    if (entry.path().filename().string().starts_with("bomb")) continue;
    auto transform = small(Augment::random_resized_crop);
    transform.orient = Orient::exif;
    Seen seen(file(entry.path()), transform);
    if (!seen.decodes) continue;
    for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
      const SampleKey key{.seed = 2, .epoch = epoch, .sample_id = 9};
      const auto needed = seen.needed(key);
      needed.empty() ? ++whole : ++in_parts;
      if (needed.empty()) continue;
      const auto got = seen.in_parts(key, needed);
      ASSERT_TRUE(got.ok()) << got.error().to_string();
      EXPECT_EQ(*got, seen.whole(key));
    }
  }
  EXPECT_GT(in_parts, 0);
  EXPECT_GT(whole, 0) << "progressive, CMYK, restarts, too small: all of it is needed";
}

TEST(PartBytes, ThatAreMissingAreNeverGuessed) {
  Seen seen(photograph(400, 300), small(Augment::random_resized_crop));
  const SampleKey key{.seed = 5, .epoch = 2, .sample_id = 3};
  const auto needed = seen.needed(key);
  ASSERT_FALSE(needed.empty());
  for (std::size_t i = 0; i < needed.size(); ++i) {
    for (const bool front : {true, false}) {
      auto less = needed;
      front ? ++less[i].begin : --less[i].end;
      const auto got = seen.in_parts(key, less);
      ASSERT_FALSE(got.ok()) << "run " << i;
      EXPECT_EQ(got.error().code(), Code::unavailable);
    }
  }
  // Another epoch's crop, another index, a file of another kind: all the same.
  EXPECT_EQ(seen.in_parts(key, std::vector<jpeg::ByteRun>{{0, 700}}).error().code(),
            Code::unavailable);
  seen.index.clear();
  EXPECT_EQ(seen.in_parts(key, needed).error().code(), Code::unavailable);
  EXPECT_TRUE(seen.needed(key).empty());
  Seen png(file(HEADRACE_TEST_DATA "/vectors/png/rgb8.png"), small(Augment::none));
  EXPECT_FALSE(png.outline);
  const std::vector<jpeg::ByteRun> all{{0, png.bytes.size()}};
  EXPECT_EQ(png.in_parts(key, all).error().code(), Code::unavailable);
}

TEST(ResizeTable, ReachIsWhatFillUses) {
  Random random(4);
  for (const auto filter : {Filter::nearest, Filter::box, Filter::bilinear, Filter::hamming,
                            Filter::bicubic, Filter::lanczos}) {
    for (int i = 0; i < 2000; ++i) {
      const auto source = static_cast<std::uint32_t>(1 + random.below(700));
      const auto scaled = static_cast<std::uint32_t>(1 + random.below(700));
      const auto begin = static_cast<std::uint32_t>(random.below(scaled));
      const auto size = static_cast<std::uint32_t>(1 + random.below(scaled - begin));
      ResizeTable table;
      table.fill(filter, source, scaled, begin, size);
      EXPECT_EQ(ResizeTable::reach(filter, source, scaled, begin, size),
                std::pair(table.begin(), table.end()));
    }
  }
}

}  // namespace
}  // namespace headrace
