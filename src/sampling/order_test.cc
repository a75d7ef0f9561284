// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/order.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>
#include <span>
#include <sstream>
#include <vector>

namespace headrace {
namespace {

using Numbers = std::vector<std::uint64_t>;

Numbers whole(const Order& order) {
  Numbers samples;
  for (std::uint64_t position = 0; position < order.size(); ++position) {
    samples.push_back(order.at(position));
  }
  return samples;
}

/// The same, as the loader's plan asks.
Numbers whole_at_once(const Order& order) {
  Numbers positions(order.size());
  std::iota(positions.begin(), positions.end(), 0);
  order.at(std::span<std::uint64_t>(positions));
  return positions;
}

Numbers numbers_until_end(std::istream& in) {
  Numbers numbers;
  for (std::uint64_t number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

// Promise O1: The order of an epoch depends on the seed, the epoch, the number of samples, the
// scheme and its version, and on nothing else.
// Promise L4: A substitute depends on the seed, the epoch and the position only.
// The golden file was written by tests/data/golden_order.py, which shares no code with ours.
TEST(Order, IsTheOneOfTheGoldenFile) {
  std::ifstream file(HEADRACE_TEST_DATA "/golden_order.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::uint64_t seed = 0, epoch = 0, size = 0, position = 0;
    std::string mark;
    in >> seed >> epoch >> size >> mark;
    const Order order(Shuffle::global, seed, epoch, size);
    if (mark == ":") {
      const Numbers golden = numbers_until_end(in);
      ASSERT_EQ(golden, whole(order)) << line;
      ASSERT_EQ(golden, whole_at_once(order)) << line;
    } else {
      in >> position >> mark;
      Numbers found{order.at(position)};
      for (unsigned attempt = 0; attempt < kSubstituteAttempts; ++attempt) {
        found.push_back(order.substitute(position, attempt));
      }
      ASSERT_EQ(numbers_until_end(in), found) << line;
    }
    ++lines;
  }
  EXPECT_EQ(lines, 496);
}

// Sizes on both sides of what is done at once, and just above a power of four, where most walk on.
TEST(Order, OfManyPositionsIsThatOfEach) {
  for (const std::uint64_t size : {1U, 2U, 7U, 8U, 9U, 63U, 64U, 65U, 257U, 1025U, 4097U, 20000U}) {
    const Order order(Shuffle::global, 3, size, size);
    ASSERT_EQ(whole_at_once(order), whole(order)) << size;
  }
  const Order order(Shuffle::global, 9, 1, std::uint64_t{1} << 50U);
  Numbers positions;
  for (std::uint64_t i = 0; i < 200; ++i)
    positions.push_back(i * i * 5'629'499'534'213U % order.size());
  Numbers samples = positions;
  order.at(std::span<std::uint64_t>(samples));
  for (std::size_t i = 0; i < positions.size(); ++i) ASSERT_EQ(samples[i], order.at(positions[i]));
  order.at(std::span<std::uint64_t>());
}

// Promise O2: Every epoch has each sample exactly once, unless it is drawn by class, by weight or
// in proportions.
TEST(Order, HasEachSampleOnceAndFindsItAgain) {
  for (const std::uint64_t size : {0U, 1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 64U, 65U, 1000U, 4097U}) {
    for (const Shuffle shuffle : {Shuffle::none, Shuffle::global}) {
      for (std::uint64_t seed = 0; seed < 5; ++seed) {
        const Order order(shuffle, seed, seed * 3, size);
        std::vector<bool> seen(size);
        for (std::uint64_t position = 0; position < size; ++position) {
          const std::uint64_t sample = order.at(position);
          ASSERT_LT(sample, size);
          ASSERT_FALSE(seen[sample]);
          seen[sample] = true;
          ASSERT_EQ(order.find(sample), position);
        }
      }
    }
  }
}

TEST(Order, FindsSamplesOfTheLargestSets) {
  for (const std::uint64_t size : {std::uint64_t{1} << 40U, (std::uint64_t{1} << 62U) + 12345}) {
    const Order order(Shuffle::global, 1, 2, size);
    for (const std::uint64_t position : {std::uint64_t{0}, size / 2, size - 1}) {
      ASSERT_LT(order.at(position), size);
      ASSERT_EQ(order.find(order.at(position)), position);
    }
  }
}

// Promise O3: With `--shuffle none` the order is the canonical one.
TEST(Order, WithoutShufflingIsTheCanonicalOne) {
  const Order order(Shuffle::none, 99, 3, 5);
  EXPECT_EQ(whole(order), (Numbers{0, 1, 2, 3, 4}));
}

TEST(Order, DependsOnSeedEpochAndSize) {
  const auto base = whole(Order(Shuffle::global, 1, 1, 100));
  EXPECT_NE(base, whole(Order(Shuffle::global, 2, 1, 100)));
  EXPECT_NE(base, whole(Order(Shuffle::global, 1, 2, 100)));
  auto shorter = base;
  std::erase(shorter, 99U);
  EXPECT_NE(shorter, whole(Order(Shuffle::global, 1, 1, 99)));
}

// Every sample comes to every place about equally often; the bound is 5 standard deviations.
TEST(Order, SpreadsSamplesEvenly) {
  constexpr std::uint64_t size = 10, trials = 20'000;
  std::vector<std::vector<double>> seen(size, std::vector<double>(size));
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const Order order(Shuffle::global, seed, 0, size);
    for (std::uint64_t p = 0; p < size; ++p) seen[p][order.at(p)] += 1;
  }
  for (std::uint64_t p = 0; p < size; ++p) {
    for (std::uint64_t s = 0; s < size; ++s) EXPECT_NEAR(seen[p][s], 2000, 5 * 42.5) << p << s;
  }
}

// Neighbours of a class-sorted set do not stay neighbours, from epoch 0 on.
TEST(Order, SeparatesNeighbours) {
  const Order order(Shuffle::global, 0, 0, 100'000);
  int close = 0;
  for (std::uint64_t p = 0; p + 1 < order.size(); ++p) {
    const auto a = order.at(p), b = order.at(p + 1);
    close += (a > b ? a - b : b - a) < 100 ? 1 : 0;
  }
  EXPECT_NEAR(close, 200, 75);
}

TEST(Order, SubstitutesAreOthersAndFixed) {
  for (const std::uint64_t size : {2U, 3U, 100U}) {
    const Order order(Shuffle::global, 5, 6, size);
    for (std::uint64_t p = 0; p < size; ++p) {
      for (unsigned attempt = 0; attempt < kSubstituteAttempts; ++attempt) {
        ASSERT_LT(order.substitute(p, attempt), size);
        ASSERT_NE(order.substitute(p, attempt), order.at(p));
      }
    }
  }
  EXPECT_EQ(Order(Shuffle::global, 5, 6, 1).substitute(0, 3), 0U);
}

TEST(Shuffle, HasNames) {
  EXPECT_EQ(*parse_shuffle("none"), Shuffle::none);
  EXPECT_EQ(*parse_shuffle("global"), Shuffle::global);
  EXPECT_EQ(parse_shuffle("nnoe").error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
