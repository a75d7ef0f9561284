// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/read_ahead.h"

#include <gtest/gtest.h>

#include "headrace/consumers/mount/neighbours.h"

namespace headrace::mount {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kLarge = 1024 * kMiB;

TEST(ReadAhead, ASmallFileIsReadWholeAtItsFirstRead) {
  ReadAhead ahead(100 * kKiB);
  const auto plan = ahead.on_read(64 * kKiB, 4 * kKiB);
  EXPECT_EQ(plan.begin, 0U);
  EXPECT_EQ(plan.end, 100 * kKiB);
  EXPECT_EQ(plan.ahead, plan.end);
  EXPECT_EQ(plan.step, 0U);
}

TEST(ReadAhead, AReadAtTheHeadBeginsARun) {
  ReadAhead ahead(kLarge);
  const auto plan = ahead.on_read(0, 128 * kKiB);
  EXPECT_EQ(plan.begin, 0U);
  EXPECT_EQ(plan.end, 128 * kKiB);
  EXPECT_GE(plan.ahead, kMiB);
  EXPECT_EQ(plan.step, kMiB);
  EXPECT_EQ(ahead.runs(), 1U);
}

TEST(ReadAhead, ARunsWindowDoublesUpToItsLimitAndNeverShrinks) {
  ReadAhead ahead(kLarge);
  std::uint64_t last = 0;
  for (std::uint64_t at = 0; at < 512 * kMiB; at += 128 * kKiB) {
    const auto plan = ahead.on_read(at, 128 * kKiB);
    const std::uint64_t window = plan.ahead - plan.end;
    ASSERT_GE(window, last);
    ASSERT_LE(window, 64 * kMiB);
    last = window;
  }
  EXPECT_EQ(last, 64 * kMiB);
  EXPECT_EQ(ahead.runs(), 1U);
}

TEST(ReadAhead, ItEndsWithTheFile) {
  ReadAhead ahead(10 * kMiB + 5);
  std::uint64_t furthest = 0;
  for (std::uint64_t at = 0; at < 10 * kMiB + 5; at += kMiB) {
    const auto plan = ahead.on_read(at, kMiB);
    furthest = std::max(furthest, plan.ahead);
  }
  EXPECT_EQ(furthest, 10 * kMiB + 5);
}

TEST(ReadAhead, JumpsFetchExactlyWhatWasAsked) {
  ReadAhead ahead(kLarge);
  for (std::uint64_t i = 1; i < 100; ++i) {
    const std::uint64_t at = (i * 37 % 100) * 10 * kMiB + 4096;
    const auto plan = ahead.on_read(at, 100 * kKiB);
    ASSERT_EQ(plan.begin, at);
    ASSERT_EQ(plan.end, at + 100 * kKiB);
    ASSERT_EQ(plan.ahead, plan.end);
  }
  EXPECT_EQ(ahead.runs(), 0U);
}

TEST(ReadAhead, AJumpThatGoesOnBecomesARun) {
  ReadAhead ahead(kLarge);
  EXPECT_EQ(ahead.on_read(100 * kMiB, 128 * kKiB).step, 0U);
  const auto plan = ahead.on_read(100 * kMiB + 128 * kKiB, 128 * kKiB);
  EXPECT_GT(plan.ahead, plan.end);
  EXPECT_EQ(ahead.runs(), 1U);
}

// The first pair may pass for a jump and what goes on after it; no other read begins a run.
TEST(ReadAhead, ReadsThatComeOutOfOrderBeginNoRuns) {
  ReadAhead ahead(kLarge);
  for (std::uint64_t at = 0; at < 64 * kMiB; at += 256 * kKiB) {
    ahead.on_read(at + 128 * kKiB, 128 * kKiB);
    ahead.on_read(at, 128 * kKiB);
  }
  EXPECT_LE(ahead.runs(), 2U);
}

TEST(ReadAhead, FourReadersOfOneFileAreFourRuns) {
  ReadAhead ahead(kLarge);
  for (std::uint64_t step = 0; step < 100; ++step) {
    for (std::uint64_t reader = 0; reader < 4; ++reader) {
      ahead.on_read(reader * 250 * kMiB + step * 128 * kKiB, 128 * kKiB);
    }
  }
  EXPECT_EQ(ahead.runs(), 4U);
}

TEST(ReadAhead, RequestsEndAtMultiplesOfTheirStep) {
  EXPECT_EQ(request_end(0, kLarge, 4 * kMiB), 4 * kMiB);
  EXPECT_EQ(request_end(kMiB, kLarge, 4 * kMiB), 4 * kMiB);
  EXPECT_EQ(request_end(4 * kMiB, kLarge, 4 * kMiB), 8 * kMiB);
  EXPECT_EQ(request_end(8 * kMiB, 8 * kMiB + 3, 4 * kMiB), 8 * kMiB + 3);
  EXPECT_EQ(request_end(5, 77, 0), 77U);
}

TEST(Neighbours, AReaderInOrderGetsMoreAndMore) {
  Neighbours folder;
  EXPECT_EQ(folder.on_first_read(0).count, 0U);
  EXPECT_EQ(folder.on_first_read(1).count, 0U);
  std::uint64_t sent = 0, place = 2;
  for (; place < 500; ++place) {
    const auto plan = folder.on_first_read(place);
    if (plan.count == 0) continue;
    if (sent != 0) {
      ASSERT_EQ(place + plan.from, sent) << "no file twice, none left out";
    }
    sent = place + plan.from + plan.count;
  }
  EXPECT_EQ(sent, place + Neighbours::kMost);
}

TEST(Neighbours, AShuffleFetchesNearlyNothing) {
  Neighbours folder;
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    sent += folder.on_first_read(i * 7919 % 10'007).count;
  }
  EXPECT_LT(sent, 100U);
}

TEST(Neighbours, ReadersThatShareAListAreInOrder) {
  Neighbours folder;
  std::uint64_t sent = 0;
  for (std::uint64_t i = 0; i + 4 < 400; i += 4) {  // four readers, each a little out of turn
    for (const std::uint64_t place : {i + 1, i, i + 3, i + 2}) {
      sent += folder.on_first_read(place).count;
    }
  }
  EXPECT_GT(sent, 300U);
}

}  // namespace
}  // namespace headrace::mount
