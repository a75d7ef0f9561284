// SPDX-License-Identifier: Apache-2.0
// Every file of tests/data/vectors: the verdict, the size and the pixels that the reference
// libraries gave.
#include <gtest/gtest.h>
#include <hwy/detect_compiler_arch.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "headrace/decode/decoder.h"
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

/// Two damaged files whose coefficients leave the range: there libjpeg-turbo's pixels are those of
/// the processor's own code, and the table was made on x86-64.
bool is_of_this_processor(const Expected& expected) {
  return HWY_ARCH_X86 != 0 || (expected.file != "jpeg/missing_dht_optimised.jpg" &&
                               expected.file != "jpeg/scan_bad_huffman.jpg");
}

void expect_pixels(const PictureReport& report, const Expected& expected) {
  ASSERT_TRUE(report.decodes) << report.reason;
  EXPECT_EQ(report.width, expected.width);
  EXPECT_EQ(report.height, expected.height);
  if (is_of_this_processor(expected)) {
    EXPECT_EQ(report.rgb_sha256, expected.sha256);
  }
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

// Each crop by our own decoder, first without an index and then by the one it made, against
// libjpeg-turbo on the whole picture; on every vector unit and on the plain form.
TEST(Vectors, EveryCropIsTheSameOnEveryUnit) {
  const char* const asked = std::getenv("HEADRACE_CORPUS");  // NOLINT(concurrency-mt-unsafe)
  const std::uint64_t crops = asked == nullptr ? 1 : 20;
  DecodeLimits by_library;
  by_library.library_only = true;
  Decoder own;
  Decoder library(by_library);
  Transform transform;
  transform.width = 60;
  transform.height = 44;
  transform.layout = Layout::nhwc_u8;
  std::vector<std::byte> want(transform.sample_bytes());
  std::vector<std::byte> got(transform.sample_bytes());
  std::uint64_t seen = 0;
  std::uint64_t indexed = 0;
  for (const auto& expected : expectations()) {
    if (expected.verdict != "decodes" || !expected.file.starts_with("jpeg/")) continue;
    SCOPED_TRACE(expected.file);
    const std::string bytes = contents(expected.file);
    const Hash128 payload = hash_bytes(as_byte_span(bytes));
    for (std::uint64_t crop = 0; crop < crops; ++crop, ++seen) {
      const SampleKey key{3, crop, seen};
      ASSERT_TRUE(library.decode_into(as_byte_span(bytes), transform, key, want).ok());
      for (const auto target : hwy::SupportedAndGeneratedTargets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        hwy::SetSupportedTargetsForTest(target);
        std::vector<std::byte> index;
        const SeekUse first{{}, payload, &index};
        ASSERT_TRUE(own.decode_into(as_byte_span(bytes), transform, key, got, &first).ok());
        ASSERT_EQ(got, want) << "without an index";
        if (index.empty()) continue;
        const SeekUse again{index, payload, nullptr};
        ASSERT_TRUE(own.decode_into(as_byte_span(bytes), transform, key, got, &again).ok());
        ASSERT_EQ(got, want) << "with an index";
        ++indexed;
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
  EXPECT_GT(seen, 150 * crops);
  EXPECT_GT(indexed, 50 * crops);
}

// A PNG under a JPEG's name decodes; what is no picture says how it begins.
TEST(Vectors, ContentDecidesAndNotTheName) {
  const std::string png = contents("jpeg/png_named.JPEG");
  const auto report = report_picture(as_byte_span(png));
  EXPECT_TRUE(report.decodes);
  EXPECT_EQ(report.format, PictureFormat::png);
  const auto none = report_picture(as_byte_span("<html>404</html>"));
  EXPECT_FALSE(none.decodes);
  EXPECT_NE(none.reason.find("it begins with 3c 68 74 6d 6c"), std::string::npos) << none.reason;
  EXPECT_NE(report_picture({}).reason.find("0 bytes"), std::string::npos);
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
