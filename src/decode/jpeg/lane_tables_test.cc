// SPDX-License-Identifier: Apache-2.0
// Every look of a table says what the code says bit by bit.
#include "headrace/decode/jpeg/lane_tables.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <vector>

#include "headrace/base/random.h"
#include "headrace/decode/jpeg/pair_tables.h"
#include "headrace/decode/jpeg/testing/random_code.h"

namespace headrace::jpeg {
namespace {

using jpeg::testing::random_code;

using F = LaneField;

struct Step {
  std::uint32_t length = 0, size = 0, advance = 0;
  std::int32_t value = 0;
  bool has_value = false;
  std::uint32_t bits() const { return length + size; }
};

/// The symbol at `from` bits into `word` (bits from the top); nothing if there is no such code.
std::optional<Step> symbol_at(const HuffmanCode& code, bool ac, std::uint32_t word, unsigned from) {
  const std::uint32_t rest = word << from;
  const Symbol symbol = code.find(rest >> 16U);
  if (symbol.length == 0) return std::nullopt;
  const std::uint32_t size = value_bits(symbol, ac);
  const std::uint32_t bits = size == 0 ? 0 : rest << symbol.length >> (32U - size);
  const std::uint32_t step = advance(symbol, ac);
  return Step{symbol.length, size, step == 64 ? kEndAdvance : step,
              size == 0 ? 0 : extend(bits, size), size != 0 || !ac};
}

std::uint32_t field(LaneEntry entry, unsigned from, unsigned bits) {
  return static_cast<std::uint32_t>(entry >> from) & ((1U << bits) - 1);
}
std::int32_t value(LaneEntry entry, unsigned flag) {
  return static_cast<std::int16_t>(static_cast<std::uint16_t>(entry >> (flag - 3))) >> 4;
}

/// What may be looked up as one: whole, and with its place in the entry's few bits.
bool is_short(const Step& step) {
  return step.bits() <= kLaneLookBits && (!step.has_value || step.advance <= F::kPlaceBits);
}

void expect_long(LaneEntry entry, const std::optional<Step>& step) {
  for (const unsigned bit : {0U, 8U, 16U, F::kPlaces}) {
    EXPECT_EQ(field(entry, bit, bit == 0 ? 6 : bit == F::kPlaces ? 13 : 7), 0U) << "must wait";
  }
  EXPECT_EQ(field(entry, F::kFirst, 1) + field(entry, F::kSecond, 1), 0U) << "brings no value";
  const bool known = step && step->length <= kLaneLookBits && step->bits() <= kMostLongBits;
  ASSERT_EQ((entry & F::kLongWay) != 0, known);
  ASSERT_EQ((entry & F::kLongerWay) != 0, !known);
  if (!known) return;
  EXPECT_EQ(field(entry, F::kLongAdvance, 7), step->advance);
  EXPECT_EQ(field(entry, F::kLongBits, 6), step->bits());
  EXPECT_EQ(entry >> F::kLongSize, step->size - 1);
}

void expect_entry(LaneEntry entry, const std::vector<Step>& steps) {
  std::uint32_t bits = 0, advance = 0, places = 0, values = 0;
  for (const Step& step : steps) {
    bits += step.bits();
    advance += step.advance;
    if (!step.has_value) continue;
    places |= 1U << (advance - 1);
    const unsigned flag = values++ == 0 ? F::kFirst : F::kSecond;
    EXPECT_EQ(field(entry, flag, 1), 1U);
    EXPECT_EQ(value(entry, flag), step.value);
  }
  EXPECT_EQ(field(entry, 0, 8), bits) << "and no other way";
  EXPECT_EQ(field(entry, F::kAdvance, 8), advance);
  EXPECT_EQ(field(entry, F::kBitsAgain, 6), bits);
  EXPECT_EQ(field(entry, F::kPlaces, F::kPlaceBits), places);
  EXPECT_EQ(field(entry, F::kFirst, 1) + field(entry, F::kSecond, 1), values);
}

void expect_table(const LaneTables& tables, const LaneEntry* entries, bool ac, bool pairs) {
  for (std::uint32_t i = 0; i < kLaneTable; ++i) {
    SCOPED_TRACE(::testing::Message() << (ac ? "AC " : "DC ") << i << (pairs ? " pairs" : ""));
    const std::uint32_t word = i << (32U - kLaneLookBits);
    const auto first = symbol_at(tables.code(ac), ac, word, 0);
    if (!first || first->length > kLaneLookBits || !is_short(*first)) {
      expect_long(entries[i], first);
      if (::testing::Test::HasFailure()) return;
      continue;
    }
    std::vector<Step> steps{*first};
    const unsigned left = kLaneLookBits - first->bits();
    if (pairs && first->has_value && left >= 2 && first->advance <= kMostPairAdvance) {
      const auto second = symbol_at(tables.code(true), true, word, first->bits());
      if (second && second->length <= left && second->bits() <= left && is_short(*second) &&
          (!second->has_value || first->advance + second->advance <= kMostPairAdvance)) {
        steps.push_back(*second);
      }
    }
    expect_entry(entries[i], steps);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(LaneTables, SayWhatTheCodeSays) {
  Random random(4);
  std::vector<LaneEntry> entries(LaneTables::kParts * kLaneTable);
  for (int round = 0; round < 60; ++round) {
    LaneTables tables;
    ASSERT_TRUE(
        tables.build(random_code(random, false), random_code(random, true), entries.data()));
    const auto part = [&](std::size_t p) { return entries.data() + p * kLaneTable; };
    expect_table(tables, part(LaneTables::kDc), false, true);
    expect_table(tables, part(LaneTables::kAcPairs), true, true);
    expect_table(tables, part(LaneTables::kAcSingles), true, false);
    if (HasFailure()) return;
  }
}

TEST(LaneTables, LengthsThatContradictEachOtherAreRefused) {
  HuffmanSpec dc, ac;
  dc.counts[1] = 1;
  ac.counts[1] = 3;
  dc.present = ac.present = true;
  std::vector<LaneEntry> entries(LaneTables::kParts * kLaneTable);
  LaneTables tables;
  EXPECT_FALSE(tables.build(dc, ac, entries.data()));
}

TEST(LaneTables, NoPairCanReachTheNextBlock) {
  Random random(5);
  std::vector<LaneEntry> entries(LaneTables::kParts * kLaneTable);
  LaneTables tables;
  ASSERT_TRUE(tables.build(random_code(random, false), random_code(random, true), entries.data()));
  for (std::size_t i = 0; i < kLaneTable; ++i) {
    const LaneEntry entry = entries[LaneTables::kAcPairs * kLaneTable + i];
    if (field(entry, F::kSecond, 1) == 0) continue;
    EXPECT_LT(kSinglesFrom - 1 + field(entry, F::kAdvance, 8), 64U) << "the second value is below";
  }
}

}  // namespace
}  // namespace headrace::jpeg
