// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <thread>

#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"
#include "headrace/storage/testing/slow_store.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace::testing {
namespace {

using namespace std::chrono_literals;

struct Below {
  MemoryStore memory;
};

const bool kRegistered =
    register_store_conformance({.name = "failing_that_never_fails",
                                .make = [](const Context&) -> StoreWorld::Made {
                                  auto below = std::make_shared<Below>();
                                  auto store = std::make_unique<FailingStore>(
                                      below->memory,
                                      [](const Call&) { return std::optional<Fault>(); });
                                  return {below, std::move(store)};
                                }}) &&
    register_store_conformance(
        {.name = "slow", .make = [](const Context& context) -> StoreWorld::Made {
           auto below = std::make_shared<Below>();
           return {below, std::make_unique<SlowStore>(below->memory, *context.clock, 100us)};
         }});

TEST(FailingStore, TheKthCallFailsAndNoOther) {
  ASSERT_TRUE(kRegistered);
  MemoryStore memory;
  ASSERT_TRUE(put(memory, "a", as_byte_span("0123456789"), {}).ok());
  FailingStore store(memory, fail_kth(Call::Kind::read, 1, {.code = Code::denied}));
  EXPECT_TRUE(read_now(store, {.key = "a"}).ok());
  EXPECT_EQ(read_now(store, {.key = "a"}).error().code(), Code::denied);
  EXPECT_TRUE(read_now(store, {.key = "a"}).ok());
  EXPECT_EQ(store.calls(Call::Kind::read), 3U);
  EXPECT_EQ(store.faults(), 1U);
}

TEST(FailingStore, DamagedBytesDifferInOneBitOrInLength) {
  MemoryStore memory;
  ASSERT_TRUE(put(memory, "a", as_byte_span("0123456789"), {}).ok());
  FailingStore corrupt(memory, fail_key("a", {.kind = Fault::Kind::corrupt}));
  const auto wrong = read_now(corrupt, {.key = "a"});
  ASSERT_TRUE(wrong.ok());
  EXPECT_EQ(wrong->bytes.text(), "0123446789");
  FailingStore shorter(memory, fail_key("a", {.kind = Fault::Kind::shorten}));
  EXPECT_EQ(read_now(shorter, {.key = "a"})->bytes.text(), "012345678");
}

TEST(FailingStore, ProbabilityIsAFunctionOfTheSeed) {
  MemoryStore memory;
  ASSERT_TRUE(put(memory, "a", as_byte_span("x"), {}).ok());
  const auto faults = [&memory](std::uint64_t seed) {
    FailingStore store(memory, fail_with_probability(Call::Kind::read, 0.25, seed, {}));
    std::string which;
    for (int i = 0; i < 1000; ++i) which += read_now(store, {.key = "a"}).ok() ? '.' : 'x';
    EXPECT_GT(store.faults(), 180U);
    EXPECT_LT(store.faults(), 320U);
    return which;
  };
  EXPECT_EQ(faults(1), faults(1));
  EXPECT_NE(faults(1), faults(2));
}

TEST(FailingStore, AWriterThatFailsToFinishLeavesNothing) {
  MemoryStore memory;
  FailingStore store(memory, fail_kth(Call::Kind::finish, 0, {.code = Code::exhausted}));
  EXPECT_EQ(put(store, "a", as_byte_span("x"), {}).error().code(), Code::exhausted);
  EXPECT_EQ(memory.head("a", {}).error().code(), Code::not_found);
}

TEST(SlowStore, AnswersComeWhenTheClockPassesTheirTime) {
  MemoryStore memory;
  ASSERT_TRUE(put(memory, "a", as_byte_span("x"), {}).ok());
  ManualClock clock;
  SlowStore store(memory, clock,
                  [](const std::string&, std::uint64_t n) { return n == 0 ? 50ms : 20ms; });
  std::atomic<int> first{0};
  std::atomic<int> second{0};
  std::latch came(1);
  store.read({.key = "a"}, [&](const Result<ReadResult>&) { ++first; });
  store.read({.key = "a"}, [&](const Result<ReadResult>&) {
    ++second;
    came.count_down();
  });
  clock.advance(20ms);
  came.wait();
  EXPECT_EQ(first, 0);
  clock.advance(30ms);
  while (first == 0) std::this_thread::yield();
}

}  // namespace
}  // namespace headrace::testing
