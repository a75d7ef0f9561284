// SPDX-License-Identifier: Apache-2.0
#include "headrace/sampling/selection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>
#include <vector>

#include "headrace/base/random.h"
#include "headrace/sampling/order.h"

namespace headrace {
namespace {

using Numbers = std::vector<std::uint64_t>;
using Weights = std::vector<double>;

Selection::WeightOf weights_of(const Weights& weights) {
  if (weights.empty()) return {};
  return [weights](std::uint64_t sample) -> Result<double> {
    return weights.at(static_cast<std::size_t>(sample));
  };
}

Selection select(const Proportions& proportions, const Numbers& sets, const Weights& weights = {}) {
  auto made = Selection::make(proportions, sets, weights_of(weights));
  EXPECT_TRUE(made.ok()) << made.error().to_string();
  return *std::move(made);
}

std::string refusal(const Proportions& proportions, const Numbers& sets,
                    const Weights& weights = {}) {
  const auto made = Selection::make(proportions, sets, weights_of(weights));
  return made.ok() ? "made" : made.error().to_string();
}

/// How often each of `samples` comes in epochs [first, end).
Numbers times(const Selection& selection, std::uint64_t samples, std::uint64_t seed,
              std::uint64_t first, std::uint64_t end) {
  Numbers counts(samples);
  for (std::uint64_t epoch = first; epoch < end; ++epoch) {
    const std::uint64_t shift = selection.shift(seed, epoch);
    std::uint64_t last = 0;
    for (std::uint64_t slot = 0; slot < selection.size(); ++slot) {
      const std::uint64_t sample = selection.at(shift, slot);
      EXPECT_GE(sample, last) << "points are in canonical order";
      last = sample;
      ++counts.at(sample);
    }
  }
  return counts;
}

template <class Number>
std::vector<Number> numbers_until(std::istream& in, const std::string& end) {
  std::vector<Number> numbers;
  for (std::string word; in >> word && word != end;) {
    std::istringstream digits(word);
    digits >> numbers.emplace_back();
  }
  return numbers;
}

// The golden file was written by tests/data/golden_selections.py, which reckons with fractions.
TEST(Selection, HasTheOrdersOfTheGoldenFile) {
  std::ifstream file(HEADRACE_TEST_DATA "/golden_selections.txt");
  int lines = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    std::string text, mark;
    std::uint64_t seed = 0, epoch = 0;
    Proportions proportions;
    in >> text >> seed >> epoch >> proportions.epoch_samples >> mark;
    const auto sets = numbers_until<std::uint64_t>(in, ";");
    proportions.repeat = numbers_until<double>(in, ";");
    proportions.shares = numbers_until<double>(in, ";");
    const auto weights = numbers_until<double>(in, ":");
    const auto expected = numbers_until<std::uint64_t>(in, "");
    const Selection selection = select(proportions, sets, weights);
    ASSERT_EQ(selection.size(), expected.size()) << line;
    auto shuffle = *parse_shuffle(text);
    shuffle.selection = &selection;
    const Order order(shuffle, seed, epoch, selection.size());
    Numbers found;
    for (std::uint64_t p = 0; p < order.size(); ++p) found.push_back(order.at(p));
    ASSERT_EQ(found, expected) << line;
    ++lines;
  }
  EXPECT_EQ(lines, 180);
}

TEST(Selection, OfEqualWeightsIsThePlainOrder) {
  const Selection selection = select({.repeat = {1, 1}}, {1000, 234});
  auto shuffle = Shuffle::global;
  shuffle.selection = &selection;
  for (const std::uint64_t epoch : {0U, 1U, 77U}) {
    const Order drawn(shuffle, 5, epoch, 1234);
    const Order plain(Shuffle::global, 5, epoch, 1234);
    for (std::uint64_t p = 0; p < 1234; ++p) ASSERT_EQ(drawn.at(p), plain.at(p));
  }
}

TEST(Selection, RepeatsSetsExactly) {
  const auto counts = times(select({.repeat = {2, 1, 3}}, {5, 4, 2}), 11, 3, 0, 1);
  EXPECT_EQ(counts, (Numbers{2, 2, 2, 2, 2, 1, 1, 1, 1, 3, 3}));
}

// A half in one epoch, the others in the next; a quarter in four.
TEST(Selection, GoesThroughASetInSeveralEpochs) {
  const Selection half = select({.repeat = {0.5}}, {1000});
  EXPECT_EQ(half.size(), 500U);
  for (const std::uint64_t first : {0U, 2U, 10U})
    EXPECT_EQ(times(half, 1000, 1, first, first + 2), Numbers(1000, 1));
  const Selection quarter = select({.epoch_samples = 250}, {1000});
  EXPECT_EQ(times(quarter, 1000, 1, 4, 8), Numbers(1000, 1));
}

// Promise O9: With `--repeat`, `--shares`, `--epoch-samples` or weights each set and each sample
// comes in every epoch as often as was asked, to within one.
// Promise O10: Over the first 2^k epochs, too, each sample comes as often as its weight asks, to
// within one.
TEST(Selection, DrawsAsOftenAsWeightsAskToWithinOne) {
  for (std::uint64_t trial = 0; trial < 200; ++trial) {
    Random random(mix_key(trial, 41));
    Numbers sets;
    for (std::uint64_t i = 0; i <= random.below(4); ++i) sets.push_back(1 + random.below(60));
    const std::uint64_t samples = std::accumulate(sets.begin(), sets.end(), std::uint64_t{0});
    Proportions proportions{.epoch_samples = 1 + random.below(400)};
    Weights weights;
    if (random.below(2) == 0) {
      for (std::uint64_t i = 0; i < samples; ++i)
        weights.push_back(static_cast<double>(1 + random.below(8'000'000)) * 1e-6);
    }
    auto& factors = random.below(2) == 0 ? proportions.repeat : proportions.shares;
    for (std::size_t i = 0; i < sets.size(); ++i)
      factors.push_back(static_cast<double>(1 + random.below(5'000'000)) * 1e-6);
    // What each sample should weigh, in numbers of its own.
    Weights asked;
    for (std::size_t set = 0; set < sets.size(); ++set) {
      const std::size_t first = asked.size();
      for (std::uint64_t i = 0; i < sets[set]; ++i)
        asked.push_back(weights.empty() ? 1.0 : weights[asked.size()]);
      const double own =
          std::accumulate(asked.begin() + static_cast<std::ptrdiff_t>(first), asked.end(), 0.0);
      const bool by_share = !proportions.shares.empty();
      for (std::size_t i = first; i < asked.size(); ++i)
        asked[i] *= by_share ? factors[set] / own : factors[set];
    }
    const double all = std::accumulate(asked.begin(), asked.end(), 0.0);
    const Selection selection = select(proportions, sets, weights);
    for (const std::uint64_t epochs : {1U, 8U}) {
      const auto counts = times(selection, samples, trial, 0, epochs);
      const double per = static_cast<double>(epochs * proportions.epoch_samples) / all;
      constexpr double kRounding = 1e-3;  // of weights to millionths
      for (std::uint64_t i = 0; i < samples; ++i)
        ASSERT_LT(std::abs(static_cast<double>(counts[i]) - asked[i] * per), 1 + kRounding) << i;
      std::uint64_t sample = 0;
      for (const std::uint64_t size : sets) {
        double expected = 0, got = 0;
        for (const std::uint64_t end = sample + size; sample < end; ++sample) {
          expected += asked[sample] * per;
          got += static_cast<double>(counts[sample]);
        }
        ASSERT_LT(std::abs(got - expected), 1 + kRounding * static_cast<double>(size));
      }
    }
  }
}

// Over the seeds a sample is drawn with the chance that its weight gives; the bound is 5 standard
// deviations of a fair coin's.
TEST(Selection, IsFairOverTheSeeds) {
  const Weights weights = {0.3, 0.1, 2, 0.7, 0.05, 0.85};  // of an epoch of 2, of 4 together
  const Selection selection = select({.epoch_samples = 2}, {6}, weights);
  std::vector<double> drawn(6);
  constexpr int trials = 20'000;
  for (std::uint64_t seed = 0; seed < trials; ++seed) {
    const auto counts = times(selection, 6, seed, 0, 1);
    for (std::size_t i = 0; i < 6; ++i) drawn[i] += static_cast<double>(counts[i]);
  }
  for (std::size_t i = 0; i < 6; ++i) {
    const double chance = weights[i] / 2;
    EXPECT_NEAR(drawn[i] / trials, chance, 5 * std::sqrt(chance * (1 - chance) / trials) + 1e-9);
  }
}

// In `global` what is drawn often stands anywhere: counts of a heavy sample in tenths of the epoch
// against equal ones, by chi squared with 9 degrees of freedom (27.9 is exceeded once in 1,000).
TEST(Selection, SpreadsRepeatsOverTheEpoch) {
  const Selection selection = select({.epoch_samples = 10'000}, {100}, [] {
    Weights weights(100, 1.0);
    weights[40] = 100;
    return weights;
  }());
  auto shuffle = Shuffle::global;
  shuffle.selection = &selection;
  const Order order(shuffle, 11, 3, 10'000);
  std::vector<double> tenths(10);
  double all = 0;
  for (std::uint64_t p = 0; p < 10'000; ++p) {
    if (order.at(p) != 40) continue;
    tenths[p / 1000] += 1;
    all += 1;
  }
  EXPECT_NEAR(all, 10'000 * 100.0 / 199, 1.001);
  double chi = 0;
  for (const double count : tenths) chi += (count - all / 10) * (count - all / 10) / (all / 10);
  EXPECT_LT(chi, 27.9);
}

TEST(Selection, NeverDrawsAWeightOfNothing) {
  const auto counts = times(select({.epoch_samples = 50}, {4}, {0, 1, 0, 3}), 4, 9, 0, 4);
  EXPECT_EQ(counts[0] + counts[2], 0U);
  EXPECT_EQ(counts[1] + counts[3], 200U);
  EXPECT_EQ(times(select({.shares = {0, 1}}, {3, 4}), 7, 9, 0, 1)[0], 0U);
}

TEST(Selection, GoesToTheEndsOfLargeSets) {
  const std::uint64_t size = std::uint64_t{1} << 39U;
  for (const Proportions& proportions :
       {Proportions{.repeat = {1, 1}}, Proportions{.shares = {1, 1000}, .epoch_samples = size}}) {
    const Selection selection = select(proportions, {1000, size - 1000});
    const std::uint64_t shift = selection.shift(1, 2);
    EXPECT_LT(selection.at(shift, 0), 1000U);
    EXPECT_GE(selection.at(shift, selection.size() - 1), size - 10);
    EXPECT_LT(selection.at(shift, selection.size() - 1), size);
  }
}

TEST(Selection, OfNoSamplesIsEmpty) {
  EXPECT_EQ(select({.repeat = {2}}, {0}).size(), 0U);
  EXPECT_EQ(select({.repeat = {0.1}}, {3}).size(), 0U);
}

TEST(Selection, SaysWhatDoesNotFit) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal({.repeat = {1}}, {2, 3}).find("1 numbers for 2 sets"), std::string::npos);
  EXPECT_NE(refusal({.shares = {1, 2, 3}}, {2, 3}).find("3 numbers for 2"), std::string::npos);
  EXPECT_NE(refusal({.repeat = {1}, .shares = {1}}, {2}).find("one of them"), std::string::npos);
  for (const double bad : {-1.0, 1e-7, 2e6, none})
    EXPECT_NE(refusal({.repeat = {bad}}, {2}).find("neither 0 nor"), std::string::npos) << bad;
  EXPECT_NE(refusal({}, {2}, {1, -3}).find("of sample 1"), std::string::npos);
  EXPECT_NE(refusal({}, {2}, {0, 0}).find("no sample has a weight"), std::string::npos);
  EXPECT_NE(refusal({.shares = {1, 1}}, {2, 0}).find("set 2"), std::string::npos);
  EXPECT_NE(refusal({.shares = {0, 0}, .epoch_samples = 3}, {2, 2}).find("no sample"),
            std::string::npos);
  EXPECT_NE(refusal({.repeat = {1e6}}, {std::uint64_t{1} << 39U}).find("too long"),
            std::string::npos);
}

TEST(Selection, IsToldApartByItsFingerprint) {
  const std::string base = select({.repeat = {1, 2}}, {3, 4}).fingerprint();
  EXPECT_EQ(select({.repeat = {1, 2}}, {3, 4}).fingerprint(), base);
  EXPECT_NE(select({.repeat = {1, 3}}, {3, 4}).fingerprint(), base);
  EXPECT_NE(select({.repeat = {1, 2}, .epoch_samples = 5}, {3, 4}).fingerprint(), base);
  EXPECT_NE(select({.repeat = {1, 2}}, {3, 4}, {1, 1, 1, 1, 1, 1, 2}).fingerprint(), base);
}

TEST(Shuffle, SomeCannotBeDrawnFrom) {
  for (const char* text : {"global", "none", "blocks"})
    EXPECT_TRUE(check_selectable(*parse_shuffle(text)).ok()) << text;
  for (const char* text : {"node:2", "balanced"})
    EXPECT_EQ(check_selectable(*parse_shuffle(text)).error().code(), Code::invalid) << text;
}

}  // namespace
}  // namespace headrace
