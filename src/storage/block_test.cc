// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/block.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace headrace {
namespace {

constexpr std::size_t kMiB = kLargeBlock;

bool recycles() {
  { const Buffer probe = make_block(kMiB); }
  return idle_block_bytes() != 0;  // not under AddressSanitizer
}

TEST(Block, FrozenBytesAreWhatWasFilledIn) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, kMiB, 3 * kMiB + 7, 40 * kMiB}) {
    Buffer block = make_block(size);
    ASSERT_EQ(block.size(), size);
    if (size != 0) std::memset(block.data(), 7, size);
    const Bytes bytes = std::move(block).freeze(size / 2);
    ASSERT_EQ(bytes.size(), size / 2);
    for (const std::byte one : bytes.span()) ASSERT_EQ(one, std::byte{7});
  }
}

TEST(Block, ALargeOneIsUsedAgainOnceNobodyHoldsIt) {
  if (!recycles()) GTEST_SKIP() << "not in this build";
  Buffer first = make_block(4 * kMiB);
  const std::byte* const at = first.data();
  const Bytes whole = std::move(first).freeze(4 * kMiB);
  Bytes slice = whole.slice(kMiB, 10);
  {
    Buffer other = make_block(4 * kMiB);
    EXPECT_NE(other.data(), at) << "it is still read";
  }
  // Both are free now but for the slice.
  const Bytes moved = std::move(slice);
  EXPECT_NE(make_block(4 * kMiB).data(), at);
}

TEST(Block, TheLastThatCameFreeOfASizeIsTakenFirst) {
  if (!recycles()) GTEST_SKIP() << "not in this build";
  const std::byte* at = nullptr;
  {
    Buffer one = make_block(2 * kMiB);
    at = one.data();
  }
  { const Buffer larger = make_block(3 * kMiB); }
  Buffer again = make_block(2 * kMiB - 100);  // sizes are rounded up
  EXPECT_EQ(again.data(), at);
}

TEST(Block, IdleMemoryHasALimit) {
  {
    std::vector<Buffer> many;
    many.reserve(100);
    for (int i = 0; i < 100; ++i)
      many.push_back(make_block(kMiB * (1 + static_cast<std::size_t>(i) % 8)));
  }
  EXPECT_LE(idle_block_bytes(), kIdleMost);
}

TEST(Block, ThreadsMayShareTheIdleOnes) {
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (std::size_t i = 0; i < 300; ++i) {
        Buffer block = make_block(kMiB * (1 + i % 3));
        const auto mark = static_cast<std::byte>(t);
        block.data()[0] = block.data()[block.size() - 1] = mark;
        const Bytes bytes = std::move(block).freeze(kMiB);
        ASSERT_EQ(bytes.span().front(), mark);
      }
    });
  }
  threads.clear();
  EXPECT_LE(idle_block_bytes(), kIdleMost);
}

}  // namespace
}  // namespace headrace
