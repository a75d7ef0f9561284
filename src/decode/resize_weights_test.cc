// SPDX-License-Identifier: Apache-2.0
// Weights in lanes against a plain form of Pillow's, on every vector unit.
#include "headrace/decode/resize_weights.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "headrace/base/random.h"
#include "headrace/decode/resize_table.h"

namespace headrace {
namespace {

double radius(Filter filter) {
  return filter == Filter::box ? 0.5 : filter == Filter::bilinear ? 1.0 : 2.0;
}

double weight(Filter filter, double x) {
  if (filter == Filter::box) return x > -0.5 && x <= 0.5 ? 1.0 : 0.0;
  x = std::fabs(x);
  if (filter == Filter::bilinear) return x < 1.0 ? 1.0 - x : 0.0;
  if (x < 1.0) return ((-0.5 + 2.0) * x - (-0.5 + 3.0)) * x * x + 1;
  return x < 2.0 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0.0;
}

struct Row {
  std::uint32_t first = 0;
  std::vector<std::int32_t> weights;
  bool operator==(const Row&) const = default;
};

/// One output, as precompute_coeffs and normalize_coeffs_8bpc make it.
Row plain(Filter filter, std::uint32_t source, std::uint32_t scaled, std::uint32_t output) {
  const double scale = static_cast<double>(source) / scaled;
  const double filter_scale = std::max(scale, 1.0);
  const double support = radius(filter) * filter_scale;
  const double center = (output + 0.5) * scale;
  // NOLINTBEGIN(bugprone-incorrect-roundings): as Pillow rounds
  const auto first = static_cast<std::uint32_t>(std::max(center - support + 0.5, 0.0));
  const auto end = std::min(static_cast<std::uint32_t>(center + support + 0.5), source);
  // NOLINTEND(bugprone-incorrect-roundings)
  std::vector<double> all;
  double sum = 0;
  for (std::uint32_t i = first; i < end; ++i) {
    all.push_back(weight(filter, (i - center + 0.5) * (1.0 / filter_scale)));
    sum += all.back();
  }
  Row row{first, {}};
  for (const double one : all) {
    const double value = sum == 0 ? one : one / sum;
    row.weights.push_back(
        static_cast<std::int32_t>((value < 0 ? -0.5 : 0.5) + value * (1 << ResizeTable::kBits)));
  }
  return row;
}

class OnEveryUnit : public testing::Test {
 protected:
  void TearDown() override { hwy::SetSupportedTargetsForTest(0); }
};

TEST_F(OnEveryUnit, WeightsInLanesAreThoseOfOneByOne) {
  Random random(1);
  for (int round = 0; round < 150; ++round) {
    const auto source = static_cast<std::uint32_t>(1 + random.below(round % 5 == 0 ? 20000 : 700));
    const auto scaled = static_cast<std::uint32_t>(kLeastOutputs + random.below(400));
    const auto begin = static_cast<std::uint32_t>(random.below(scaled - kLeastOutputs + 1));
    const auto size = static_cast<std::uint32_t>(kLeastOutputs +
                                                 random.below(scaled - begin - kLeastOutputs + 1));
    for (const Filter filter : {Filter::box, Filter::bilinear, Filter::bicubic}) {
      std::vector<Row> wanted;
      for (std::uint32_t i = 0; i < size; ++i)
        wanted.push_back(plain(filter, source, scaled, begin + i));
      for (const auto target : hwy::SupportedAndGeneratedTargets()) {
        hwy::SetSupportedTargetsForTest(target);
        SCOPED_TRACE(hwy::TargetName(target));
        ResizeTable table;
        table.fill(filter, source, scaled, begin, size);
        for (std::uint32_t i = 0; i < size; ++i) {
          const auto* from = table.weights_of(i);
          ASSERT_EQ((Row{table.first[i], {from, from + table.count[i]}}), wanted[i])
              << source << " to " << scaled << ", output " << begin + i;
          EXPECT_TRUE(std::all_of(from + table.count[i], from + table.taps,
                                  [](std::int32_t one) { return one == 0; }));
        }
      }
      hwy::SetSupportedTargetsForTest(0);
    }
  }
}

// What is too little or too large for lanes is done one by one.
TEST_F(OnEveryUnit, SmallOutputsAndHugeSourcesAreTheSame) {
  for (const auto& [source, scaled] :
       {std::pair(500U, 7U), std::pair(3U, 1U), std::pair(kMostSource + 9, 2000000U)}) {
    for (const Filter filter : {Filter::box, Filter::bilinear, Filter::bicubic}) {
      ResizeTable table;
      const auto size = std::min(scaled, 40U);
      table.fill(filter, source, scaled, scaled - size, size);
      for (std::uint32_t i = 0; i < size; ++i) {
        const auto* from = table.weights_of(i);
        ASSERT_EQ((Row{table.first[i], {from, from + table.count[i]}}),
                  plain(filter, source, scaled, scaled - size + i));
      }
    }
  }
}

}  // namespace
}  // namespace headrace
