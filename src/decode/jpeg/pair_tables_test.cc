// SPDX-License-Identifier: Apache-2.0
// Every look of a table says what the code says bit by bit.
#include "headrace/decode/jpeg/pair_tables.h"

#include <gtest/gtest.h>

#include <memory>

#include "headrace/base/random.h"
#include "headrace/decode/jpeg/testing/random_code.h"

namespace headrace::jpeg {
namespace {

using jpeg::testing::random_code;

struct Step {
  std::uint32_t bits = 0, advance = 0;
  std::int32_t value = 0;
};

/// One symbol at `from` bits into `word` (bits from the top); nothing if it needs more than `most`.
std::optional<Step> symbol_at(const HuffmanCode& code, bool ac, std::uint32_t word, unsigned from,
                              unsigned most) {
  const std::uint32_t rest = word << from;
  const Symbol symbol = code.find(rest >> 16U);
  const std::uint32_t size = value_bits(symbol, ac);
  if (symbol.length == 0 || from + symbol.length + size > most) return std::nullopt;
  const std::uint32_t bits = size == 0 ? 0 : rest << symbol.length >> (32U - size);
  return Step{symbol.length + size, advance(symbol, ac), size == 0 ? 0 : extend(bits, size)};
}

std::int32_t value_at(Entry entry, unsigned shift) {
  return static_cast<std::int16_t>(entry >> shift);
}

void expect_table(const BlockTables& tables, bool ac, unsigned look_bits) {
  for (std::uint32_t i = 0; i < 1U << look_bits; ++i) {
    SCOPED_TRACE(::testing::Message() << (ac ? "AC " : "DC ") << i);
    const Entry entry = (ac ? tables.ac() : tables.dc())[i];
    const std::uint32_t word = i << (32U - look_bits);
    const auto first = symbol_at(tables.code(ac), ac, word, 0, look_bits);
    if (!first) {
      EXPECT_EQ(entry & 0xffffffU, 0U);
      EXPECT_EQ(entry >> 24U & 0xffU, 128U);
      continue;
    }
    const std::uint32_t bias = ac ? 0 : kBias;
    EXPECT_EQ(entry >> 16U & 0xffU, first->bits);
    EXPECT_EQ(value_at(entry, 32), first->value);
    if (first->advance == 64) {
      EXPECT_EQ(entry & 0xffffffffU, first->bits | 64U << 8U | first->bits << 16U | kAside << 24U);
      continue;
    }
    EXPECT_EQ(entry >> 24U & 0xffU, first->advance + bias);
    const auto second = symbol_at(tables.code(true), true, word, first->bits, look_bits);
    const bool pair = (entry & 0xffU) != first->bits;
    if (pair) {
      ASSERT_TRUE(second);
      EXPECT_EQ(entry & 0xffU, first->bits + second->bits);
      EXPECT_EQ(entry >> 8U & 0xffU, first->advance + second->advance + bias);
      EXPECT_EQ(value_at(entry, 48), second->value);
    } else {
      EXPECT_TRUE(!second || look_bits - first->bits < 2 || first->bits < 2);
      EXPECT_EQ(entry >> 8U & 0xffU, first->advance + bias);
      EXPECT_EQ(value_at(entry, 48), first->value);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(PairTables, EveryLookSaysWhatTheCodeSays) {
  Random random(1);
  const auto tables = std::make_unique<BlockTables>();
  for (int round = 0; round < 20; ++round) {
    const HuffmanSpec dc = random_code(random, false), ac = random_code(random, true);
    for (const unsigned bits : {kMostLookBits, kChromaLookBits}) {
      ASSERT_TRUE(tables->build(dc, ac, bits));
      expect_table(*tables, true, bits);
      expect_table(*tables, false, kDcLookBits);
      if (HasFailure()) return;
    }
  }
}

TEST(PairTables, CodesThatContradictThemselvesAreRefused) {
  Random random(1);
  const auto tables = std::make_unique<BlockTables>();
  const HuffmanSpec dc = random_code(random, false), ac = random_code(random, true);
  HuffmanSpec bad = ac;
  bad.counts[2] = 5;
  EXPECT_FALSE(tables->build(dc, bad, kMostLookBits));
  bad.counts = {};
  bad.counts[1] = 2;  // one of them is all ones
  EXPECT_FALSE(tables->build(bad, ac, kMostLookBits));
  EXPECT_TRUE(tables->build(dc, ac, kMostLookBits));
}

}  // namespace
}  // namespace headrace::jpeg
