// SPDX-License-Identifier: Apache-2.0
// Every vector form equals its scalar form bit by bit, on every target this machine has.
#include "headrace/decode/jpeg/kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <vector>

#include "headrace/base/random.h"

namespace headrace::jpeg {
namespace {

/// Runs `body` once for each instruction set that this machine can run.
template <class Body>
void on_every_target(const Body& body) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
}

std::vector<std::uint8_t> noise(std::uint64_t key, std::size_t size) {
  Random random(key);
  std::vector<std::uint8_t> bytes(size);
  for (auto& b : bytes) b = static_cast<std::uint8_t>(random.next());
  return bytes;
}

struct Group {
  alignas(64) std::array<std::int16_t, kGroupSize> coefficients{};
  alignas(64) std::array<std::uint16_t, 64> quant{};
};

void expect_equal_idct(const Group& group) {
  std::array<std::uint8_t, 256> want{}, got{};
  scalar::idct_group(group.coefficients.data(), group.quant.data(), want.data(), 32);
  on_every_target([&] {
    idct_groups(group.coefficients.data(), group.quant.data(), got.data(), 32, 1);
    for (std::size_t i = 0; i < want.size(); ++i)
      ASSERT_EQ(want[i], got[i]) << "row " << i / 32 << " column " << i % 32;
  });
}

TEST(Idct, EqualsScalarOnOrdinaryBlocks) {
  Random random(1);
  for (int round = 0; round < 2000; ++round) {
    Group group;
    for (auto& q : group.quant) q = static_cast<std::uint16_t>(1 + random.below(40));
    const auto busy = random.below(64);
    for (std::uint64_t i = 0; i < busy * 4; ++i) {
      group.coefficients[random.below(kGroupSize)] =
          static_cast<std::int16_t>(static_cast<int>(random.below(201)) - 100);
    }
    expect_equal_idct(group);
  }
}

TEST(Idct, EqualsScalarOutOfRangeToo) {
  Random random(2);
  for (int round = 0; round < 2000; ++round) {
    Group group;
    for (auto& q : group.quant) q = static_cast<std::uint16_t>(1 + random.below(255));
    const bool first_row_only = round % 3 == 0;
    for (std::size_t i = 0; i < (first_row_only ? 32 : kGroupSize); ++i) {
      if (random.below(3) != 0) continue;
      const std::size_t at = place_in_group(i / 32, i % 8) + i % 32 / 8 * 8;
      group.coefficients[at] = static_cast<std::int16_t>(random.next());
    }
    expect_equal_idct(group);
  }
}

TEST(Idct, TakesGroupsSideBySide) {
  Random random(3);
  alignas(64) std::array<std::int16_t, 3 * kGroupSize> coefficients{};
  alignas(64) std::array<std::uint16_t, 64> quant{};
  for (auto& q : quant) q = static_cast<std::uint16_t>(1 + random.below(40));
  for (auto& c : coefficients) c = static_cast<std::int16_t>(random.below(20));
  std::array<std::uint8_t, 3 * 256> want{}, got{};
  for (std::size_t g = 0; g < 3; ++g) {
    scalar::idct_group(&coefficients[g * kGroupSize], quant.data(), &want[g * 32], 96);
  }
  on_every_target([&] {
    idct_groups(coefficients.data(), quant.data(), got.data(), 96, 3);
    EXPECT_EQ(got, want);
  });
}

TEST(Upsample, EqualsScalarAtAnyLength) {
  for (std::size_t count = 1; count < 200; ++count) {
    const auto near = noise(count, count + 2 * kRowSlack);
    const auto far = noise(count + 1000, count + 2 * kRowSlack);
    std::vector<std::uint8_t> want(2 * count + 2 * kRowSlack), got(want.size());
    on_every_target([&] {
      scalar::upsample_h2v1(near.data() + kRowSlack, want.data(), count);
      upsample_h2v1(near.data() + kRowSlack, got.data(), count);
      EXPECT_TRUE(std::equal(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(2 * count),
                             got.begin()));
      scalar::upsample_h2v2(near.data() + kRowSlack, far.data() + kRowSlack, want.data(), count);
      upsample_h2v2(near.data() + kRowSlack, far.data() + kRowSlack, got.data(), count);
      EXPECT_TRUE(std::equal(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(2 * count),
                             got.begin()));
    });
  }
}

TEST(Colour, EqualsScalarForEveryChroma) {
  constexpr std::size_t kCount = 256;
  std::vector<std::uint8_t> y(kCount + kRowSlack), cb(y.size()), cr(y.size());
  std::vector<std::uint8_t> want(3 * kCount), got(3 * kCount);
  for (unsigned luma : {0U, 1U, 77U, 128U, 254U, 255U}) {
    for (unsigned blue = 0; blue < 256; ++blue) {
      for (std::size_t i = 0; i < kCount; ++i) {
        y[i] = static_cast<std::uint8_t>(luma);
        cb[i] = static_cast<std::uint8_t>(blue);
        cr[i] = static_cast<std::uint8_t>(i);
      }
      scalar::ycc_to_rgb(y.data(), cb.data(), cr.data(), want.data(), kCount);
      on_every_target([&] {
        ycc_to_rgb(y.data(), cb.data(), cr.data(), got.data(), kCount);
        ASSERT_EQ(want, got);
      });
    }
  }
}

TEST(Colour, PlanesAreTheInterleavedPixels) {
  for (std::size_t count = 1; count < 200; ++count) {
    const auto y = noise(count, count + kRowSlack), cb = noise(count + 1, count + kRowSlack),
               cr = noise(count + 2, count + kRowSlack);
    std::vector<std::uint8_t> rgb(3 * count);
    std::vector<std::uint8_t> red(count + kRowSlack), green(red.size()), blue(red.size());
    scalar::ycc_to_rgb(y.data(), cb.data(), cr.data(), rgb.data(), count);
    on_every_target([&] {
      ycc_to_planes(y.data(), cb.data(), cr.data(), red.data(), green.data(), blue.data(), count);
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(red[i], rgb[3 * i]);
        ASSERT_EQ(green[i], rgb[3 * i + 1]);
        ASSERT_EQ(blue[i], rgb[3 * i + 2]);
      }
    });
  }
}

TEST(Colour, WritesNothingBehindTheEnd) {
  for (std::size_t count = 1; count < 100; ++count) {
    const auto y = noise(count, count + kRowSlack);
    std::vector<std::uint8_t> rgb(3 * count + 1, 0xa5);
    on_every_target([&] {
      ycc_to_rgb(y.data(), y.data(), y.data(), rgb.data(), count);
      EXPECT_EQ(rgb.back(), 0xa5);
    });
  }
}

}  // namespace
}  // namespace headrace::jpeg
