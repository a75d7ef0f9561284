// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/nodes.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"

namespace headrace {
namespace {

class Nodes : public ::testing::Test {
 protected:
  Nodes() { clear(); }
  ~Nodes() override { clear(); }
  static void clear() {
    for (const char* name :
         {"GROUP_WORLD_SIZE", "LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "SLURM_NNODES"})
      ::unsetenv(name);
  }
  static std::uint64_t of(std::uint64_t world, std::uint64_t nodes = 0) {
    JobOptions options;
    options.loader.world = world;
    options.nodes = nodes;
    return nodes_of(options);
  }
};

TEST_F(Nodes, AreWhatTheLauncherSays) {
  EXPECT_EQ(of(8), 1U) << "nobody says";
  EXPECT_EQ(of(8, 4), 4U);
  ::setenv("LOCAL_WORLD_SIZE", "2", 1);
  EXPECT_EQ(of(8), 4U);
  EXPECT_EQ(of(8, 2), 2U) << "the option counts first";
  ::setenv("LOCAL_WORLD_SIZE", "two", 1);
  EXPECT_EQ(of(8), 1U);
  clear();
  ::setenv("SLURM_NNODES", "3", 1);
  EXPECT_EQ(of(6), 3U);
  EXPECT_EQ(of(1), 1U) << "a job of one rank is on one node";
}

TEST(ShareReadBefore, IsWhatTheOrderGives) {
  EXPECT_EQ(share_read_before(1, 0), 0);
  EXPECT_EQ(share_read_before(1, 1), 1);
  constexpr std::uint64_t kSamples = 40'000;
  constexpr std::uint64_t kNodes = 4;
  const auto plan = *Plan::make(
      {.samples = kSamples, .batch = 100, .rank = 1, .world = kNodes, .tail = Tail::keep});
  std::set<std::uint64_t> read;
  for (std::uint64_t epoch = 0; epoch < 5; ++epoch) {
    const Order order(Shuffle::global, 3, epoch, kSamples);
    std::uint64_t before = 0;
    std::uint64_t asked = 0;
    for (std::uint64_t step = 0; step < plan.steps(); ++step) {
      const Stretch stretch = plan.stretch(step);
      for (std::uint64_t i = 0; i < stretch.count; ++i, ++asked)
        before += read.insert(order.at(plan.position(stretch, i))).second ? 0 : 1;
    }
    EXPECT_NEAR(static_cast<double>(before) / static_cast<double>(asked),
                share_read_before(kNodes, epoch), 0.02)
        << epoch;
  }
}

}  // namespace
}  // namespace headrace
