// SPDX-License-Identifier: Apache-2.0
// The ledger of an epoch, over ranks, threads, sizes, batches, tails and policies: the sums hold,
// and no sample is delivered twice.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>

#include "headrace/base/random.h"
#include "headrace/loader/testing/scripted_store.h"
#include "headrace/loader/testing/world.h"

namespace headrace {
namespace {

using testing::FixedRecords;
using testing::ScriptedStore;

/// Equal records, of which some are damaged.
class SpoiltRecords final : public Dataset {
 public:
  SpoiltRecords(Store& store, std::uint64_t count, bool spoilt)
      : records_(store, count, 8), spoilt_(spoilt) {}

  bool bad(std::uint64_t id) const { return spoilt_ && id % 7 == 3; }

  std::string format() const override { return records_.format(); }
  std::uint64_t size() const override { return records_.size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return records_.frame_bytes(id); }
  Extent locate(SampleId id) const override { return records_.locate(id); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const override {
    if (bad(static_cast<std::uint64_t>(id))) return Error(Code::corrupt, "spoilt");
    return records_.parse(id, frame);
  }
  std::string name(SampleId id) const override { return records_.name(id); }
  const std::vector<std::string>& classes() const override { return records_.classes(); }
  Hash128 fingerprint() const override { return records_.fingerprint(); }

 private:
  const FixedRecords records_;
  const bool spoilt_;
};

struct Case {
  std::uint64_t ranks, samples, batch;
  unsigned threads;
  Tail tail;
  OnBad policy;
  bool spoilt;

  std::string text() const {
    return fmt::format("ranks {} samples {} batch {} threads {} tail {} policy {} spoilt {}", ranks,
                       samples, batch, threads, to_string(tail), static_cast<int>(policy), spoilt);
  }
};

/// What all ranks delivered together.
struct Sum {
  Ledger ledger;
  std::uint64_t slots = 0;
  std::set<std::uint64_t> batches;        ///< how many a rank had
  std::map<std::uint64_t, int> asked_at;  ///< position → times, padding excluded
  std::map<std::uint64_t, int> times;     ///< sample → times, padding and substitutes excluded
  bool failed = false;
};

Sum run(const Case& c) {
  ScriptedStore store(0);
  const SpoiltRecords set(store, c.samples, c.spoilt);
  Sum sum;
  for (std::uint64_t rank = 0; rank < c.ranks; ++rank) {
    const auto feed = make_store_feed(store, set);
    LoaderOptions options = testing::small_job();
    options.batch = c.batch;
    options.threads = c.threads;
    options.rank = rank;
    options.world = c.ranks;
    options.tail = c.tail;
    options.on_bad = c.policy;
    options.seed = c.samples;
    auto loader = Loader::make({}, *feed, set, options);
    EXPECT_TRUE(loader) << loader.error().to_string();
    const auto got = testing::drain(**loader, 1);
    if (got.error) {
      sum.failed = true;
      continue;
    }
    sum.ledger += got.epochs.at(0).ledger;
    sum.slots += got.slots.size();
    sum.batches.insert(got.batches.size());
    for (const Slot& slot : got.slots) {
      EXPECT_FALSE(set.bad(slot.sample_id));
      if (slot.padding) continue;
      ++sum.asked_at[slot.position];
      if (!slot.substitute) ++sum.times[slot.sample_id];
    }
  }
  return sum;
}

void check(const Case& c) {
  SCOPED_TRACE(c.text());
  const Sum sum = run(c);
  std::uint64_t bad = 0;
  for (std::uint64_t id = 0; id < c.samples; ++id) bad += c.spoilt && id % 7 == 3 ? 1U : 0U;
  if (sum.failed) {
    ASSERT_GT(bad, 0U);
    ASSERT_NE(c.policy, OnBad::skip) << "a set may be skipped as a whole";
    return;
  }
  const Ledger& ledger = sum.ledger;
  ASSERT_EQ(ledger.asked, c.samples);
  ASSERT_EQ(ledger.asked, ledger.delivered + ledger.substituted + ledger.skipped + ledger.dropped);
  ASSERT_EQ(sum.slots, ledger.delivered + ledger.substituted + ledger.padded);
  ASSERT_EQ(sum.asked_at.size(), ledger.delivered + ledger.substituted);
  if (c.tail != Tail::wrap) {  // that one repeats without saying so
    for (const auto& [position, times] : sum.asked_at) ASSERT_EQ(times, 1) << position;
    for (const auto& [sample, times] : sum.times) ASSERT_EQ(times, 1) << sample;
  }
  ASSERT_EQ(sum.batches.size(), 1U) << "every rank has as many batches as the others";
  const std::uint64_t global = c.batch * c.ranks;
  ASSERT_EQ(ledger.dropped, c.tail == Tail::drop ? c.samples % global : 0);
  const bool filled = c.tail == Tail::pad || c.tail == Tail::wrap;
  if (!filled) {
    ASSERT_EQ(ledger.padded, 0U);
  }
  if (c.tail != Tail::drop) {
    ASSERT_EQ(ledger.skipped + ledger.substituted, bad);
  }
  if (filled && bad == 0) {
    ASSERT_EQ(sum.slots % global, 0U) << "all batches are full";
  }
}

// Promise L1: In every epoch asked is delivered, substituted, skipped and dropped together.
// Every pair of ranks and samples, with the rest drawn; HEADRACE_LONG=1 draws a hundred times.
TEST(LedgerSums, HoldOverRanksThreadsSizesTailsAndPolicies) {
  const int draws = std::getenv("HEADRACE_LONG") != nullptr ? 100 : 1;
  constexpr std::array kTails = {Tail::keep, Tail::drop, Tail::pad, Tail::wrap};
  constexpr std::array kPolicies = {OnBad::error, OnBad::skip, OnBad::substitute};
  for (int draw = 0; draw < draws; ++draw) {
    for (std::uint64_t ranks = 1; ranks <= 9; ++ranks) {
      for (std::uint64_t samples = 0; samples <= 40; ++samples) {
        Random random(mix_key(static_cast<std::uint64_t>(draw), ranks, samples));
        check({.ranks = ranks,
               .samples = samples,
               .batch = 1 + random.below(50),
               .threads = 1 + static_cast<unsigned>(random.below(17)),
               .tail = kTails.at(random.below(kTails.size())),
               .policy = kPolicies.at(random.below(kPolicies.size())),
               .spoilt = random.below(2) == 0});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// The corners that a draw may miss.
TEST(LedgerSums, HoldAtTheEndsOfEveryRange) {
  for (const std::uint64_t ranks : {1U, 9U}) {
    for (const std::uint64_t samples : {0U, 1U, 40U}) {
      for (const std::uint64_t batch : {1U, 50U}) {
        for (const unsigned threads : {1U, 17U}) {
          for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad, Tail::wrap}) {
            for (const OnBad policy : {OnBad::skip, OnBad::substitute}) {
              check({ranks, samples, batch, threads, tail, policy, true});
              if (HasFatalFailure()) return;
            }
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace headrace
