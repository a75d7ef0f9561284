// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/half_kernels.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "headrace/base/random.h"

namespace headrace {
namespace {

TEST(Half, IsIeeeRoundedToNearestEven) {
  for (const auto& [value, half] :
       std::vector<std::pair<float, int>>{{0.0F, 0x0000},
                                          {-0.0F, 0x8000},
                                          {1.0F, 0x3c00},
                                          {-2.0F, 0xc000},
                                          {0.333251953125F, 0x3555},
                                          {65504.0F, 0x7bff},
                                          {65519.0F, 0x7bff},
                                          {65520.0F, 0x7c00},
                                          {1e9F, 0x7c00},
                                          {5.9604645e-8F, 0x0001},
                                          {2.9802322e-8F, 0x0000},
                                          {8.940697e-8F, 0x0002},
                                          {6.1035156e-5F, 0x0400},
                                          {6.097555e-5F, 0x03ff},
                                          {1.00048828125F, 0x3c00},
                                          {1.00146484375F, 0x3c02},
                                          {0.99981689453125F, 0x3c00}}) {
    EXPECT_EQ(half_of(value), half) << value;
  }
  EXPECT_TRUE((half_of(std::numeric_limits<float>::quiet_NaN()) & 0x7fffU) > 0x7c00U);
}

TEST(Bfloat, IsTheUpperHalfRoundedToNearestEven) {
  EXPECT_EQ(bfloat_of(1.0F), 0x3f80);
  EXPECT_EQ(bfloat_of(1.00390625F), 0x3f80);  // a tie, to the even
  EXPECT_EQ(bfloat_of(1.01171875F), 0x3f82);  // a tie, to the even
  EXPECT_EQ(bfloat_of(-3.1415927F), 0xc049);
  EXPECT_EQ(bfloat_of(3.4e38F), 0x7f80);
}

TEST(HalfKernels, EqualTheirScalarFormsOnEveryTarget) {
  std::vector<std::uint8_t> in(256 + 13);
  std::iota(in.begin(), in.end(), std::uint8_t{0});
  Random random(1);
  for (int round = 0; round < 200; ++round) {
    const auto scale = static_cast<float>(
        std::ldexp(random.uniform(0.1, 1.0), -static_cast<int>(random.below(24))));
    const auto bias = static_cast<float>(random.uniform(-3.0, 3.0) * (round % 3));
    for (const auto target : hwy::SupportedAndGeneratedTargets()) {
      hwy::SetSupportedTargetsForTest(target);
      SCOPED_TRACE(hwy::TargetName(target));
      std::vector<std::uint16_t> half(in.size()), bfloat(in.size());
      const auto width = static_cast<std::uint32_t>(in.size());
      to_half(in.data(), width, scale, bias, half.data());
      to_bfloat(in.data(), width, scale, bias, bfloat.data());
      for (std::size_t i = 0; i < in.size(); ++i) {
        const float value = static_cast<float>(in[i]) * scale + bias;
        ASSERT_EQ(half[i], half_of(value)) << value;
        ASSERT_EQ(bfloat[i], bfloat_of(value)) << value;
      }
    }
    hwy::SetSupportedTargetsForTest(0);
  }
}

}  // namespace
}  // namespace headrace
