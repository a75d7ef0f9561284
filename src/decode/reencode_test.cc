// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/reencode.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

Bytes vector_file(const std::string& name) {
  std::ifstream file(HEADRACE_TEST_DATA "/vectors/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  return Bytes::copy_of(std::string((std::istreambuf_iterator<char>(file)), {}));
}

PictureInfo info_of(const Bytes& picture) {
  Decoder decoder;
  const auto info = decoder.inspect(picture.span());
  EXPECT_TRUE(info);
  return *info;
}

TEST(Reencode, TheShorterSideBecomesWhatWasAskedFor) {
  const Bytes picture = vector_file("jpeg/baseline_420.jpg");
  const PictureInfo before = info_of(picture);
  const std::uint32_t side = std::min(before.width, before.height) / 2;
  Reencoder reencoder({.resize = side});
  const auto smaller = reencoder.apply(picture);
  ASSERT_TRUE(smaller) << smaller.error().to_string();
  const PictureInfo after = info_of(*smaller);
  EXPECT_EQ(std::min(after.width, after.height), side);
  EXPECT_EQ(after.format, PictureFormat::jpeg);
  EXPECT_EQ(after.width > after.height, before.width > before.height);
  EXPECT_EQ(reencoder.apply(picture)->text(), smaller->text());
}

TEST(Reencode, NothingIsMadeLargerOrTouchedWithoutNeed) {
  const Bytes picture = vector_file("jpeg/baseline_420.jpg");
  EXPECT_EQ(Reencoder({.resize = 10'000}).apply(picture)->text(), picture.text());
  EXPECT_EQ(Reencoder({}).apply(picture)->text(), picture.text());
}

TEST(Reencode, QualityAloneStoresEveryPictureAnew) {
  const Bytes picture = vector_file("jpeg/baseline_444.jpg");
  const auto good = Reencoder({.quality = 95}).apply(picture);
  const auto poor = Reencoder({.quality = 10}).apply(picture);
  ASSERT_TRUE(good && poor);
  EXPECT_LT(poor->size(), good->size());
  EXPECT_EQ(info_of(*poor).width, info_of(picture).width);
}

TEST(Reencode, PixelsStayCloseToWhatWasThere) {
  const Bytes picture = vector_file("jpeg/baseline_444.jpg");
  const auto again = Reencoder({.quality = 100}).apply(picture);
  ASSERT_TRUE(again);
  Decoder decoder;
  const auto before = decoder.decode(picture.span());
  const std::vector<std::uint8_t> old(before->rgb.begin(), before->rgb.end());
  const auto after = decoder.decode(again->span());
  ASSERT_EQ(old.size(), after->rgb.size());
  double sum = 0;
  for (std::size_t i = 0; i < old.size(); ++i) sum += std::abs(old[i] - after->rgb[i]);
  EXPECT_LT(sum / static_cast<double>(old.size()), 6.0);  // 4:2:0 takes colour, not light
}

TEST(Reencode, WhatCannotBeDecodedIsCorrupt) {
  Reencoder reencoder({.resize = 8});
  for (const auto* name : {"jpeg/bomb_65000x65000.jpg", "jpeg/empty_0_bytes.jpg"}) {
    const auto failed = reencoder.apply(vector_file(name));
    ASSERT_FALSE(failed) << name;
    EXPECT_EQ(failed.error().code(), Code::corrupt) << name;
  }
}

TEST(Reencode, ThreadsGetTheSameBytes) {
  const Bytes picture = vector_file("jpeg/baseline_420.jpg");
  Reencoder reencoder({.resize = 16, .quality = 80});
  const std::string expected(reencoder.apply(picture)->text());
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) EXPECT_EQ(reencoder.apply(picture)->text(), expected);
    });
  }
}

}  // namespace
}  // namespace headrace
