// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/vectors: the verdict, the size and the pixels that the reference
// libraries gave.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>

#include "headrace/decode/picture_report.h"

namespace headrace {
namespace {

struct Expected {
  std::string file, verdict, sha256;
  std::uint32_t width = 0, height = 0;
  bool warned = false;
};

const std::string kFolder = HEADRACE_TEST_DATA "/vectors/";

std::vector<Expected> expectations() {
  std::vector<Expected> all;
  std::ifstream table(kFolder + "pictures.tsv");
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    Expected expected;
    fields >> expected.file >> expected.verdict >> expected.width >> expected.height >>
        expected.sha256 >> expected.warned;
    all.push_back(expected);
  }
  return all;
}

std::string contents(const std::string& file) {
  std::ifstream stream(kFolder + file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void expect_pixels(const PictureReport& report, const Expected& expected) {
  ASSERT_TRUE(report.decodes) << report.reason;
  EXPECT_EQ(report.width, expected.width);
  EXPECT_EQ(report.height, expected.height);
  EXPECT_EQ(report.rgb_sha256, expected.sha256);
}

TEST(Vectors, EveryPictureHasItsVerdictAndPixels) {
  const auto all = expectations();
  ASSERT_EQ(all.size(), 501U);
  for (const auto& expected : all) {
    SCOPED_TRACE(expected.file);
    const std::string bytes = contents(expected.file);
    const auto report = report_picture(as_byte_span(bytes));
    if (expected.verdict == "decodes") {
      expect_pixels(report, expected);
      EXPECT_EQ(!report.warnings.empty(), expected.warned)
          << (report.warnings.empty() ? "" : report.warnings[0]);
    } else {
      EXPECT_FALSE(report.decodes);
      EXPECT_NE(report.reason, "");
    }
  }
}

TEST(Vectors, ACutJpegDecodesIfThatIsAllowed) {
  int seen = 0;
  for (const auto& expected : expectations()) {
    if (expected.verdict != "truncated") continue;
    SCOPED_TRACE(expected.file);
    const std::string bytes = contents(expected.file);
    DecodeLimits lenient;
    lenient.allow_truncated = true;
    const auto report = report_picture(as_byte_span(bytes), lenient);
    expect_pixels(report, expected);
    EXPECT_FALSE(report.warnings.empty());
    ++seen;
  }
  EXPECT_EQ(seen, 44);
}

TEST(Vectors, WhatIsNotSupportedIsNamed) {
  for (const auto& [file, name] : {std::pair{"jpeg/gif_named.jpg", "unsupported format GIF"},
                                   {"jpeg/bmp_named.jpg", "unsupported format BMP"},
                                   {"jpeg/tiff_named.jpg", "unsupported format TIFF"},
                                   {"jpeg/avif_named.jpg", "unsupported format HEIF or AVIF"},
                                   {"jpeg/jp2_named.jpg", "unsupported format JPEG 2000"},
                                   {"webp/animated.webp", "unsupported format animated WebP"},
                                   {"jpeg/bits12_rgb.jpg", "Unsupported JPEG data precision 12"}}) {
    const std::string bytes = contents(file);
    EXPECT_NE(report_picture(as_byte_span(bytes)).reason.find(name), std::string::npos) << file;
  }
}

}  // namespace
}  // namespace headrace
