// SPDX-License-Identifier: Apache-2.0
// The schemes blocks and node: their orders, what they promise, how well they mix.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "headrace/sampling/class_table.h"
#include "headrace/sampling/mixing.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"

namespace headrace {
namespace {

using Numbers = std::vector<std::uint64_t>;

Shuffle shuffle_of(std::string_view text, std::uint64_t step = 0) {
  auto shuffle = *parse_shuffle(text);
  shuffle.step = step;
  return shuffle;
}

Numbers whole(const Order& order) {
  Numbers samples;
  for (std::uint64_t p = 0; p < order.size(); ++p) samples.push_back(order.at(p));
  return samples;
}

// The golden file was written by tests/data/golden_schemes.py, which builds orders as lists.
TEST(Schemes, HaveTheOrdersOfTheGoldenFile) {
  std::ifstream file(HEADRACE_TEST_DATA "/golden_schemes.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string text, colon;
    std::uint64_t seed = 0, epoch = 0, size = 0, step = 0;
    in >> text >> seed >> epoch >> size >> step >> colon;
    Numbers expected;
    for (std::uint64_t sample = 0; in >> sample;) expected.push_back(sample);
    const Order order(shuffle_of(text, step), seed, epoch, size);
    ASSERT_EQ(whole(order), expected) << line;
    for (std::uint64_t p = 0; p < size; ++p) ASSERT_EQ(order.find(order.at(p)), p) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 168);
}

TEST(Schemes, FindSamplesOfTheLargestSets) {
  const std::uint64_t size = (std::uint64_t{1} << 40U) + 12345;
  for (const auto& shuffle : {shuffle_of("blocks:256x64"), shuffle_of("node:8", 2048)}) {
    const Order order(shuffle, 1, 2, size);
    for (const std::uint64_t position : {std::uint64_t{0}, size / 2, size - 2000, size - 1}) {
      ASSERT_LT(order.at(position), size);
      ASSERT_EQ(order.find(order.at(position)), position);
    }
  }
}

// Promise O6: With `--shuffle node:N` each node reads the same samples in every epoch, those of an
// incomplete last step apart.
TEST(Schemes, ANodeKeepsItsPart) {
  constexpr std::uint64_t size = 103, batch = 4, world = 6, nodes = 3;  // two ranks a node
  std::vector<std::set<std::uint64_t>> parts(nodes);
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    const Order order(shuffle_of("node:3", batch * world), 5, epoch, size);
    for (std::uint64_t rank = 0; rank < world; ++rank) {
      const Plan plan =
          *Plan::make({.samples = size, .batch = batch, .rank = rank, .world = world});
      for (std::uint64_t step = 0; step + 1 < plan.steps(); ++step) {
        const Stretch stretch = plan.stretch(step);
        for (std::uint64_t slot = 0; slot < stretch.count; ++slot) {
          const auto position = plan.position(stretch, slot);
          ASSERT_EQ(order.node_of(position), rank / (world / nodes));
          parts[rank / (world / nodes)].insert(order.at(position));
        }
      }
    }
  }
  std::size_t all = 0;
  for (const auto& part : parts) {
    EXPECT_LE(part.size(), 35U);  // a third of the set, however many epochs
    all += part.size();
  }
  EXPECT_LE(all, size);
  EXPECT_NE(whole(Order(shuffle_of("node:3", 24), 5, 0, size)),
            whole(Order(shuffle_of("node:3", 24), 5, 1, size)));
}

// Runs stay together as long as reads need it: a window holds few of them.
TEST(Schemes, AWindowOfBlocksHoldsWholeRuns) {
  const Order order(shuffle_of("blocks:10x4"), 3, 0, 1000);
  for (std::uint64_t window = 0; window < 25; ++window) {
    std::set<std::uint64_t> runs;
    for (std::uint64_t p = window * 40; p < (window + 1) * 40; ++p) runs.insert(order.at(p) / 10);
    EXPECT_EQ(runs.size(), 4U);
  }
}

// Promise O7: With `--shuffle balanced` every class comes equally often, to within one, and a class
// repeats a sample only when all of its samples had their turn.
TEST(Schemes, BalancedDrawsEveryClassEquallyOften) {
  const std::vector<float> labels = {2, 0, 2, 2, 1, 2, 2, 0, 2, 2, 2, 2};
  const auto table = ClassTable::make(labels.size(), [&](std::uint64_t i) {
    return std::optional(labels[static_cast<std::size_t>(i)]);
  });
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->classes(), 3U);
  auto shuffle = shuffle_of("balanced");
  shuffle.classes = &*table;
  std::set<Numbers> orders;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    const auto order = whole(Order(shuffle, 1, epoch, labels.size()));
    std::vector<int> of_sample(labels.size()), of_class(3);
    for (const auto sample : order) {
      ++of_sample[sample];
      ++of_class[static_cast<std::size_t>(labels[sample])];
    }
    EXPECT_EQ(of_class, (std::vector<int>{4, 4, 4}));
    EXPECT_EQ(of_sample[4], 4);  // the only one of its class
    EXPECT_EQ(of_sample[1], 2);
    EXPECT_EQ(of_sample[7], 2);
    orders.insert(order);
  }
  EXPECT_EQ(orders.size(), 5U);
}

TEST(ClassTable, NeedsEveryLabel) {
  const auto unknown = [](std::uint64_t i) {
    return i == 3 ? std::nullopt : std::optional<float>(1);
  };
  EXPECT_EQ(ClassTable::make(5, unknown).error().code(), Code::invalid);
  EXPECT_EQ(ClassTable::make(0, unknown).error().code(), Code::invalid);
  EXPECT_EQ(ClassTable::make(3, unknown)->count(0), 3U);
}

// How far a class-sorted set of 100,000 samples in 100 classes is mixed, in batches of 256;
// docs/SEMANTICS.md has these figures.
TEST(Mixing, IsMeasuredAgainstATrueShuffle) {
  const auto of = [](std::string_view text) {
    return mixing(Order(shuffle_of(text, 256), 1, 0, 100'000), 100, 256);
  };
  EXPECT_NEAR(of("global"), 1.00, 0.005);
  EXPECT_NEAR(of("node:4"), 1.00, 0.005);
  EXPECT_NEAR(of("blocks:256x64"), 0.58, 0.02);
  EXPECT_NEAR(of("blocks:64x256"), 0.89, 0.02);
  EXPECT_NEAR(of("blocks:16x1024"), 0.97, 0.02);
  EXPECT_NEAR(of("none"), 0.014, 0.001);
}

TEST(Shuffle, TextsGoThrough) {
  for (const char* text :
       {"none", "global", "blocks:256x64", "blocks:1x1", "node", "node:4", "balanced"}) {
    const auto parsed = parse_shuffle(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(to_string(*parsed), text);
  }
  EXPECT_EQ(to_string(*parse_shuffle("blocks")), "blocks:256x64");
  EXPECT_EQ(to_string(*parse_shuffle("blocks:9")), "blocks:9x64");
  for (const char* text : {"", "deck", "blocks:", "blocks:0", "blocks:4x", "blocks:4x0", "node:0",
                           "node:x", "node:4x2", "blocks:99999999999x2"}) {
    EXPECT_EQ(parse_shuffle(text).error().code(), Code::invalid) << text;
  }
}

TEST(Shuffle, NodesMustShareAStepEvenly) {
  EXPECT_EQ(with_step(shuffle_of("node:4"), 64)->step, 64U);
  EXPECT_EQ(with_step(shuffle_of("global"), 7)->step, 0U);
  for (const auto& [text, step] : {std::pair("node", 64), std::pair("node:3", 64)}) {
    EXPECT_EQ(with_step(shuffle_of(text), static_cast<std::uint64_t>(step)).error().code(),
              Code::invalid);
  }
}

}  // namespace
}  // namespace headrace
