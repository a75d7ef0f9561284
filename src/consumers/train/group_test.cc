// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/group.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <thread>

#include "headrace/base/random.h"
#include "headrace/base/unique_fd.h"
#include "headrace/consumers/train/learner.h"

namespace headrace {
namespace {

std::uint16_t free_port() {
  const UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  auto* const generic = static_cast<sockaddr*>(static_cast<void*>(&address));
  EXPECT_EQ(::bind(fd.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(fd.get(), generic, &size), 0);
  return ntohs(address.sin_port);
}

/// Runs `job` as each of `world` ranks, on a thread each.
void as_ranks(std::uint64_t world, const std::function<void(Group&)>& job) {
  const std::uint16_t port = free_port();
  std::vector<std::jthread> ranks;
  for (std::uint64_t rank = 0; rank < world; ++rank) {
    ranks.emplace_back([=, &job] {
      const auto group = join_group({rank, world, "127.0.0.1", port, rank == 0});
      ASSERT_TRUE(group.ok()) << group.error().to_string();
      job(**group);
    });
  }
}

TEST(Group, SumsOverRanksAndGathersInTheirOrder) {
  as_ranks(3, [](Group& group) {
    const auto rank = static_cast<float>(group.rank());
    std::array<float, 2> floats{rank, 1};
    std::array<double, 1> doubles{rank + 0.5};
    ASSERT_TRUE(group.sum(floats).ok());
    ASSERT_TRUE(group.sum(doubles).ok());
    EXPECT_EQ(floats, (std::array<float, 2>{3, 3}));
    EXPECT_EQ(doubles[0], 4.5);
    for (const char* round : {"first", "second"}) {
      const auto texts = group.gather(round + std::to_string(group.rank()));
      ASSERT_TRUE(texts.ok());
      if (group.rank() != 0) {
        EXPECT_TRUE(texts->empty());
        continue;
      }
      const std::string word = round;
      EXPECT_EQ(*texts, (std::vector<std::string>{word + "0", word + "1", word + "2"}));
    }
  });
}

TEST(Group, RanksStayEqualWithSharesOfAnySize) {
  std::array<double, 2> losses{};
  as_ranks(2, [&losses](Group& group) {
    const auto learner = Learner::make(
        {.model = "resnet20", .channels = 1, .height = 8, .width = 8, .classes = 2, .threads = 1},
        group);
    ASSERT_TRUE(learner.ok());
    // The first rank has eight pictures a step; the other four, then none.
    for (std::size_t step = 0; step < 3; ++step) {
      const std::size_t mine = group.rank() == 0 ? 8 : step == 1 ? 0 : 4;
      Random random(mix_key(group.rank(), step));
      std::vector<float> pixels(mine * 64);
      for (float& pixel : pixels) pixel = static_cast<float>(random.uniform());
      const std::vector<std::int64_t> classes(mine, static_cast<std::int64_t>(group.rank()));
      const auto marks = (*learner)->train({pixels, classes, group.rank() == 1 && step == 2}, 0.1);
      ASSERT_TRUE(marks.ok()) << marks.error().to_string();
      EXPECT_EQ(marks->samples, step == 1 ? 8U : 12U);
      EXPECT_EQ(marks->stop, step == 2);
    }
    std::vector<float> same(64, 0.5F);
    const std::vector<std::int64_t> classes{1};
    const auto marks = (*learner)->evaluate({same, classes, false});
    ASSERT_TRUE(marks.ok());
    losses[group.rank()] = marks->loss_sum;
  });
  EXPECT_GT(losses[0], 0);
  EXPECT_EQ(losses[0], losses[1]);
}

class Environment {
 public:
  explicit Environment(const std::vector<std::pair<const char*, const char*>>& values) {
    for (const char* name : kNames) ::unsetenv(name);
    for (const auto& [name, value] : values) ::setenv(name, value, 1);
  }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() {
    for (const char* name : kNames) ::unsetenv(name);
  }

 private:
  static constexpr std::array kNames{"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT",
                                     "TORCHELASTIC_USE_AGENT_STORE"};
};

TEST(GroupEnvironment, WithoutALauncherThereIsOneRank) {
  const Environment environment({});
  const auto options = group_from_environment();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->world, 1U);
  const auto group = join_group(*options);
  ASSERT_TRUE(group.ok());
  EXPECT_EQ((*group)->world(), 1U);
  EXPECT_EQ(*(*group)->gather("a"), std::vector<std::string>{"a"});
}

TEST(GroupEnvironment, TorchrunServesTheMeetingPointItself) {
  const Environment environment({{"RANK", "0"},
                                 {"WORLD_SIZE", "2"},
                                 {"MASTER_ADDR", "host"},
                                 {"MASTER_PORT", "29500"},
                                 {"TORCHELASTIC_USE_AGENT_STORE", "True"}});
  const auto options = group_from_environment();
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->address, "host");
  EXPECT_EQ(options->port, 29500);
  EXPECT_FALSE(options->server);
}

TEST(GroupEnvironment, WhatDoesNotFitIsNamed) {
  const std::vector<std::vector<std::pair<const char*, const char*>>> wrong{
      {{"WORLD_SIZE", "two"}, {"RANK", "0"}},
      {{"WORLD_SIZE", "2"}},
      {{"WORLD_SIZE", "2"}, {"RANK", "2"}},
      {{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_ADDR", "host"}, {"MASTER_PORT", "70000"}},
      {{"WORLD_SIZE", "2"}, {"RANK", "0"}, {"MASTER_PORT", "29500"}}};
  for (const auto& values : wrong) {
    const Environment environment(values);
    const auto options = group_from_environment();
    ASSERT_FALSE(options.ok());
    EXPECT_EQ(options.error().code(), Code::invalid);
  }
}

}  // namespace
}  // namespace headrace
