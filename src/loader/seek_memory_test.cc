// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/seek_memory.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace headrace {
namespace {

std::string content(std::uint64_t sample) {
  return std::string(sample % 5000 + 1, 'a') + std::to_string(sample);
}

TEST(SeekMemory, GivesBackWhatWasPutWhileOthersPut) {
  constexpr std::uint64_t kSamples = 20'000;  // 50 MB: several blocks
  auto memory = SeekMemory::make(kSamples, 1U << 30U);
  ASSERT_TRUE(memory.ok());
  std::vector<std::jthread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&memory, t] {
      for (std::uint64_t i = t; i < kSamples; i += 4) {
        (*memory)->put(i, as_byte_span(content(i)));
        const auto other = (*memory)->get(kSamples - 1 - i);
        if (!other.empty()) {
          EXPECT_EQ(as_text(other), content(kSamples - 1 - i));
        }
      }
    });
  }
  threads.clear();
  for (std::uint64_t i = 0; i < kSamples; ++i) ASSERT_EQ(as_text((*memory)->get(i)), content(i));
}

TEST(SeekMemory, TheFirstPutCountsAndTheLimitHolds) {
  auto memory = SeekMemory::make(4, 10);
  ASSERT_TRUE(memory.ok());
  (*memory)->put(1, as_byte_span("first"));
  (*memory)->put(1, as_byte_span("other"));
  (*memory)->put(2, as_byte_span("does not fit"));
  (*memory)->put(3, {});
  EXPECT_EQ(as_text((*memory)->get(1)), "first");
  for (std::uint64_t i : {0U, 2U, 3U}) EXPECT_TRUE((*memory)->get(i).empty());
}

}  // namespace
}  // namespace headrace
