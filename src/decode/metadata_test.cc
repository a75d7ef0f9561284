// SPDX-License-Identifier: Apache-2.0
// The verdicts are those of Pillow 13 in tests/data/vectors/manifest.json.
#include "headrace/decode/metadata.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <utility>

namespace headrace {
namespace {

std::string file(const std::string& name) {
  std::ifstream stream(HEADRACE_TEST_DATA "/vectors/" + name, std::ios::binary);
  EXPECT_TRUE(stream) << name;
  return {std::istreambuf_iterator<char>(stream), {}};
}

unsigned orientation(const std::string& bytes) {
  return orientation_of(sniff(as_byte_span(bytes)), as_byte_span(bytes));
}

TEST(Metadata, OrientationsAreRead) {
  for (unsigned value = 1; value <= 8; ++value) {
    EXPECT_EQ(orientation(file("jpeg/exif_" + std::to_string(value) + ".jpg")), value);
  }
  for (const char* name : {"exif_big_endian", "exif_after_jfif", "exif_ifd_loop", "exif_long_type",
                           "exif_thumbnail", "exif_progressive_6", "xmp_orientation_only"}) {
    EXPECT_EQ(orientation(file(std::string("jpeg/") + name + ".jpg")), 6U) << name;
  }
  EXPECT_EQ(orientation(file("jpeg/exif_two_segments.jpg")), 3U);  // the first decides
  EXPECT_EQ(orientation(file("png/exif_6.png")), 6U);
  EXPECT_EQ(orientation(file("webp/vp8x_exif6_icc_xmp.webp")), 6U);
}

// Values out of range, and blocks that cannot be read, say nothing.
TEST(Metadata, WhatCannotBeAnOrientationIsNone) {
  for (const char* name :
       {"exif_0", "exif_9", "exif_65535", "exif_bad_ifd_offset", "exif_bad_magic", "exif_count_0",
        "exif_cut", "exif_empty", "baseline_420", "empty_0_bytes"}) {
    EXPECT_EQ(orientation(file(std::string("jpeg/") + name + ".jpg")), 1U) << name;
  }
}

TEST(Metadata, AnyCutIsSurvived) {
  for (const char* name : {"jpeg/exif_6.jpg", "jpeg/icc_srgb.jpg", "png/exif_6.png", "png/iccp.png",
                           "webp/vp8x_exif6_icc_xmp.webp"}) {
    const auto whole = file(name);
    const auto format = sniff(as_byte_span(whole));
    for (std::size_t size = 0; size < std::min<std::size_t>(whole.size(), 5000); ++size) {
      const std::string cut = whole.substr(0, size);  // of its own: a sanitizer sees its end
      const unsigned value = orientation_of(format, as_byte_span(cut));
      EXPECT_TRUE(value == 1 || value == 6);
      colour_profile_of(format, as_byte_span(cut));
    }
  }
}

TEST(Metadata, ProfilesAreFound) {
  const auto profile = [](const std::string& name) {
    const auto bytes = file(name);
    return colour_profile_of(sniff(as_byte_span(bytes)), as_byte_span(bytes));
  };
  EXPECT_GT(profile("jpeg/icc_srgb.jpg").size(), 500U);
  EXPECT_GT(profile("jpeg/icc_4_segments.jpg").size(), 190'000U);
  EXPECT_TRUE(profile("jpeg/icc_missing_chunk.jpg").empty());
  EXPECT_FALSE(profile("png/iccp.png").empty());
  EXPECT_FALSE(profile("webp/vp8x_exif6_icc_xmp.webp").empty());
  EXPECT_TRUE(profile("jpeg/baseline_420.jpg").empty());
}

// Each pixel of the turned picture comes from one of the stored one, and boxes agree with pixels.
TEST(Metadata, BoxesTurnAsTheirPixelsDo) {
  constexpr std::uint32_t kWidth = 7;
  constexpr std::uint32_t kHeight = 5;
  for (unsigned orientation = 1; orientation <= 8; ++orientation) {
    const Turned turned(orientation, kWidth, kHeight);
    EXPECT_EQ(turned.width(), orientation < 5 ? kWidth : kHeight);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (std::uint32_t y = 0; y < turned.height(); ++y) {
      for (std::uint32_t x = 0; x < turned.width(); ++x) {
        const Box at = turned.from({x, y, 1, 1});
        ASSERT_LT(at.left, kWidth);
        ASSERT_LT(at.top, kHeight);
        seen.insert({at.left, at.top});
      }
    }
    EXPECT_EQ(seen.size(), kWidth * kHeight);
    const Box box = turned.from({1, 2, 3, 2});
    const Box corner = turned.from({1, 2, 1, 1});
    EXPECT_GE(corner.left, box.left);
    EXPECT_LT(corner.left, box.left + box.width);
    EXPECT_GE(corner.top, box.top);
    EXPECT_LT(corner.top, box.top + box.height);
  }
}

}  // namespace
}  // namespace headrace
