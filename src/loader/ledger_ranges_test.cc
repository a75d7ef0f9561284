// SPDX-License-Identifier: Apache-2.0
// The sums of the ledger over whole ranges, without threads: every plan is walked by
// every rank, its bad samples are settled as the decode stage does, and the tally counts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "headrace/loader/fetcher.h"
#include "headrace/loader/tally.h"
#include "headrace/loader/testing/scripted_store.h"
#include "headrace/sampling/order.h"

namespace headrace {
namespace {

using testing::FixedRecords;
using testing::ScriptedStore;

constexpr std::uint64_t kRanks = 9, kSamples = 40, kBatch = 50;
constexpr std::uint64_t kSeed = 3;

enum class Bad { none, skip, substitute };

bool spoilt(std::uint64_t sample) { return sample % 7 == 3; }

/// What becomes of a place. False: 8 substitutes were bad too, which ends a job.
bool settle(const Order& order, Bad bad, Item& item) {
  if (bad == Bad::none || !spoilt(item.slot.sample_id)) return true;
  item.damage = Error(Code::corrupt, "spoilt");
  if (bad == Bad::skip) {
    item.left_out = true;
    return true;
  }
  for (unsigned attempt = 0; attempt < kSubstituteAttempts; ++attempt) {
    item.slot.sample_id = order.substitute(item.slot.position, attempt);
    item.slot.substitute = true;
    if (!spoilt(item.slot.sample_id)) return true;
  }
  return false;
}

struct Sum {
  Ledger ledger;
  std::uint64_t slots = 0;
  std::array<int, kSamples> at{};  ///< times that a position was asked for, padding excluded
  std::array<int, kSamples>
      times{};  ///< times that a sample came, padding and substitutes excluded
  bool ended = false;
};

/// One rank's epoch.
void deliver(const Dataset& set, const PlanOptions& options, Bad bad, Sum& sum) {
  const Plan plan = *Plan::make(options);
  const LoaderOptions loader{.batch = options.batch};
  Tally tally(set, loader, plan, {});
  const Order order(Shuffle::global, kSeed, 0, options.samples);
  Walk walk(plan, {.seed = kSeed});
  State state;
  std::uint64_t steps = 0;
  while (auto work = walk.next()) {
    ++steps;
    for (Item& item : work->items) {
      sum.ended = sum.ended || !settle(order, bad, item);
      if (item.left_out) continue;
      ++sum.slots;
      if (item.slot.padding) continue;
      ++sum.at.at(item.slot.position);
      if (!item.slot.substitute) ++sum.times.at(item.slot.sample_id);
    }
    ASSERT_TRUE(tally.add(*work, state));
  }
  ASSERT_EQ(steps, plan.steps());
  state.ledger.dropped += plan.dropped();
  state.ledger.asked += plan.dropped();
  ASSERT_EQ(state.ledger.asked, plan.share_of_epoch());
  sum.ledger += state.ledger;
}

void check(const Dataset& set, PlanOptions options, Bad bad) {
  Sum sum;
  for (options.rank = 0; options.rank < options.world; ++options.rank)
    ASSERT_NO_FATAL_FAILURE(deliver(set, options, bad, sum));
  if (sum.ended) return;  // the job is an error then, and has no sums
  const Ledger& ledger = sum.ledger;
  const std::uint64_t global = options.batch * options.world;
  ASSERT_EQ(ledger.asked, options.samples);
  ASSERT_EQ(ledger.asked, ledger.delivered + ledger.substituted + ledger.skipped + ledger.dropped);
  ASSERT_EQ(sum.slots, ledger.delivered + ledger.substituted + ledger.padded);
  ASSERT_EQ(ledger.dropped, options.tail == Tail::drop ? options.samples % global : 0);
  if (bad == Bad::none) {
    ASSERT_EQ(ledger.skipped + ledger.substituted, 0U);
  }
  std::uint64_t delivered = 0;
  for (std::uint64_t i = 0; i < options.samples; ++i) {
    delivered += static_cast<std::uint64_t>(sum.at.at(i));
    ASSERT_LE(sum.at.at(i), 1) << "position " << i;
    ASSERT_LE(sum.times.at(i), 1) << "sample " << i;
    if (bad == Bad::none && options.tail != Tail::drop) {
      ASSERT_EQ(sum.times.at(i), 1);
    }
  }
  ASSERT_EQ(delivered, ledger.delivered + ledger.substituted);
  const bool filled = options.tail == Tail::pad || options.tail == Tail::wrap;
  if (filled && bad == Bad::none) {
    ASSERT_EQ(sum.slots % global, 0U) << "all batches are full";
  }
  if (!filled) {
    ASSERT_EQ(ledger.padded, 0U);
  }
}

// Ranks 1 to 9, samples 0 to 40, batches 1 to 50, every tail, no bad samples or some that are
// skipped or substituted: all 221,400 of them. What threads add is in ledger_test.cc.
TEST(LedgerSums, HoldForEveryPlan) {
  for (std::uint64_t samples = 0; samples <= kSamples; ++samples) {
    ScriptedStore store(0);
    const FixedRecords set(store, samples, 8);
    for (std::uint64_t world = 1; world <= kRanks; ++world) {
      for (std::uint64_t batch = 1; batch <= kBatch; ++batch) {
        for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad, Tail::wrap}) {
          for (const Bad bad : {Bad::none, Bad::skip, Bad::substitute}) {
            SCOPED_TRACE(fmt::format("ranks {} samples {} batch {} tail {} bad {}", world, samples,
                                     batch, to_string(tail), static_cast<int>(bad)));
            check(set, {.samples = samples, .batch = batch, .world = world, .tail = tail}, bad);
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
