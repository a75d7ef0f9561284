// SPDX-License-Identifier: Apache-2.0
// A conversion that was cut short, shared by several machines, or split into two sets.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "headrace/records/convert/convert.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace {
namespace {

using testing::Call;
using testing::FailingStore;
using ::testing::HasSubstr;

using Contents = std::map<std::string, std::string>;

Contents contents(Store& store) {
  Contents all;
  const auto infos = list_all(store, "", {});
  for (const auto& info : *infos) all[info.key] = read_now(store, {.key = info.key})->bytes.text();
  return all;
}

class ResumeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 90; ++i) {
      const auto key = fmt::format("{}/{:02}.jpg",
                                   i % 10 == 0  ? "rare"
                                   : i % 3 == 0 ? "a"
                                                : "b",
                                   i);
      ASSERT_TRUE(put(source_, key, as_byte_span(fmt::format("picture {}", i)), {}));
    }
    auto set = open_dataset(source_, {}, {});
    ASSERT_TRUE(set);
    set_ = *std::move(set);
  }

  Result<ConvertReport> run(Store& destination, ConvertOptions options) {
    if (options.key.empty()) options.key = "x";
    return convert(source_, *set_, destination, options, {});
  }
  Contents whole(const ConvertOptions& options) {
    MemoryStore store;
    EXPECT_TRUE(run(store, options));
    return contents(store);
  }

  MemoryStore source_{"memory://source"};
  std::unique_ptr<Dataset> set_;
};

// Whatever call the end came at: the next run goes on, and the set is the same to the byte.
TEST_F(ResumeTest, GoesOnAfterAnEndAtAnyCall) {
  const ConvertOptions options{.shards = 4, .jobs = 2};
  const Contents expected = whole(options);
  std::uint64_t ends = 0;
  std::uint64_t found = 0;
  for (const auto kind : {Call::Kind::create, Call::Kind::append, Call::Kind::finish,
                          Call::Kind::remove, Call::Kind::list}) {
    for (std::uint64_t k = 0; k < 200; ++k) {
      MemoryStore store;
      // From the k-th call on nothing works any more: as if the process had ended there.
      FailingStore failing(store, [kind, k](const Call& call) -> std::optional<testing::Fault> {
        if (call.kind != kind || call.number < k) return std::nullopt;
        return testing::Fault{};
      });
      const auto first = run(failing, options);
      if (first) break;
      ++ends;
      const auto second = run(store, options);
      ASSERT_TRUE(second) << second.error().to_string();
      EXPECT_TRUE(second->complete);
      EXPECT_EQ(second->samples, 90U);
      found += second->shards_found;
      ASSERT_EQ(contents(store), expected) << static_cast<int>(kind) << " " << k;
    }
  }
  EXPECT_GT(ends, 30U);
  EXPECT_GT(found, 20U);  // what was finished was not written again
}

// Whatever stands in a receipt or in the plan: it is written anew or refused, and never believed.
TEST_F(ResumeTest, NotesThatAreDamagedAreNotBelieved) {
  const ConvertOptions options{.shards = 4, .jobs = 1};
  const Contents expected = whole(options);
  for (const char* text : {"", "{", "7", "[]", "{}", R"({"job":7})", R"({"job":null})"}) {
    MemoryStore store;
    FailingStore failing(store, [](const Call& call) -> std::optional<testing::Fault> {
      if (call.kind != Call::Kind::create || call.number < 5) return std::nullopt;
      return testing::Fault{};
    });
    ASSERT_FALSE(run(failing, options));
    std::size_t notes = 0;
    for (const auto& [key, bytes] : contents(store)) {
      if (!key.starts_with(".headrace/convert/")) continue;
      ASSERT_TRUE(put(store, key, as_byte_span(text), {}));
      ++notes;
    }
    ASSERT_GT(notes, 0U);
    auto again = options;
    again.replace = true;
    const auto done = run(store, again);
    ASSERT_TRUE(done) << text << ": " << done.error().to_string();
    EXPECT_EQ(contents(store), expected) << text;
  }
}

TEST_F(ResumeTest, FinishedShardsAreNotWrittenAgain) {
  const ConvertOptions options{.shards = 4};
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, options));
  const auto before = store.head("x-00000-of-00004.rec", {});
  ASSERT_TRUE(before);
  const auto report = run(store, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->shards_found, 2U);
  EXPECT_EQ(store.head("x-00000-of-00004.rec", {})->pin, before->pin);
}

TEST_F(ResumeTest, AShardThatWasTidiedUpIsWrittenAgain) {
  const ConvertOptions options{.shards = 4};
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, options));
  ASSERT_TRUE(store.remove("x-00000-of-00004.rec", {}));
  ASSERT_TRUE(run(store, options));
  EXPECT_EQ(contents(store), whole(options));
}

TEST_F(ResumeTest, AnotherConversionIsNotMixedIn) {
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, {.shards = 4}));
  const auto other = run(store, {.shards = 5});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code(), Code::invalid);
  EXPECT_THAT(other.error().to_string(), HasSubstr("another conversion"));
  ASSERT_TRUE(run(store, {.shards = 5, .replace = true}));
  EXPECT_EQ(contents(store), whole({.shards = 5}));
}

TEST_F(ResumeTest, OfWhatFinishedNothingOtherOptionsMayFollow) {
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00000-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, {.shards = 4}));
  ASSERT_TRUE(run(store, {.shards = 5}));
  EXPECT_EQ(contents(store), whole({.shards = 5}));
}

// `pack` clears up what it made itself; what `convert` had begun is still there to go on with.
TEST_F(ResumeTest, ACallThatClearsUpLeavesWhatAnotherHadBegun) {
  const ConvertOptions options{.shards = 4};
  ConvertOptions clearing = options;
  clearing.keep_unfinished = false;
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, options));
  const Contents begun = contents(store);
  ASSERT_FALSE(run(failing, clearing));
  EXPECT_EQ(contents(store), begun);
  ASSERT_FALSE(run(failing, clearing));
  const auto report = run(store, options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->shards_found, 2U);
  EXPECT_EQ(contents(store), whole(options));
}

// Another machine's shards appear meanwhile.
TEST_F(ResumeTest, APartThatFailsClearsNothingUp) {
  MemoryStore store;
  ConvertOptions options{.shards = 4, .part = 1, .parts = 2, .keep_unfinished = false};
  FailingStore failing(store, testing::fail_key("x-00001-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, options));
  EXPECT_TRUE(store.head("x-00000-of-00004.rec", {}));
  for (options.part = 1; options.part <= 2; ++options.part) ASSERT_TRUE(run(store, options));
  options.part = 1;
  options.finish = true;
  ASSERT_TRUE(run(store, options));
  EXPECT_EQ(contents(store), whole({.shards = 4}));
}

TEST_F(ResumeTest, ACallThatClearsUpTakesAClassListThatAnotherLeftBehind) {
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00000-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, {.shards = 4}));
  ASSERT_TRUE(store.head("x.classes.txt", {}));
  FailingStore again(store, testing::fail_key("x-00001-of-00005.rec", {}));
  ASSERT_FALSE(run(again, {.shards = 5, .keep_unfinished = false}));
  EXPECT_EQ(contents(store), Contents());
}

TEST_F(ResumeTest, TheSourceMustBeTheSame) {
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, {.shards = 4}));
  ASSERT_TRUE(put(source_, "b/new.jpg", as_byte_span("picture"), {}));
  set_ = *open_dataset(source_, {}, {});
  EXPECT_FALSE(run(store, {.shards = 4}));
}

TEST_F(ResumeTest, PartsOfSeveralMachinesMakeTheSameSet) {
  const Contents expected = whole({.shards = 5});
  MemoryStore store;
  for (const std::uint64_t part : {3U, 1U, 2U}) {
    const auto early = run(store, {.shards = 5, .finish = true});
    ASSERT_FALSE(early);
    EXPECT_THAT(early.error().to_string(), HasSubstr("not written yet"));
    const auto report = run(store, {.shards = 5, .part = part, .parts = 3});
    ASSERT_TRUE(report) << report.error().to_string();
    EXPECT_FALSE(report->complete);
  }
  const auto finished = run(store, {.shards = 5, .finish = true});
  ASSERT_TRUE(finished) << finished.error().to_string();
  EXPECT_TRUE(finished->complete);
  EXPECT_EQ(finished->samples, 90U);
  EXPECT_EQ(finished->shards_found, 5U);
  EXPECT_EQ(contents(store), expected);
}

TEST_F(ResumeTest, PartsThatCannotBeAreRefused) {
  MemoryStore store;
  EXPECT_FALSE(run(store, {.shards = 5, .part = 4, .parts = 3}));
  EXPECT_FALSE(run(store, {.shards = 2, .part = 1, .parts = 3}));
  EXPECT_TRUE(contents(store).empty());
}

TEST_F(ResumeTest, SkippedSamplesOfEarlierRunsAreInTheReport) {
  ASSERT_TRUE(source_.remove(std::string(set_->name(SampleId{0})), {}));
  MemoryStore store;
  FailingStore failing(store, testing::fail_key("x-00002-of-00004.rec", {}));
  ASSERT_FALSE(run(failing, {.shards = 4, .skip_bad = true}));
  const auto report = run(store, {.shards = 4, .skip_bad = true});
  ASSERT_TRUE(report);
  EXPECT_EQ(report->skipped, 1U);
  EXPECT_EQ(report->first_skipped.at(0).name, set_->name(SampleId{0}));
  EXPECT_EQ(report->samples, 89U);
}

/// Names in the lists of a split set, of one side.
std::multiset<std::string> names(const Contents& all, const std::string& side) {
  std::multiset<std::string> found;
  const std::string& list = all.at(fmt::format("{0}/{0}.lst", side));
  for (std::size_t at = 0; at < list.size();) {
    const auto end = list.find('\n', at);
    const std::string line = list.substr(at, end - at);
    found.insert(line.substr(line.rfind('\t') + 1));
    at = end + 1;
  }
  return found;
}

TEST_F(ResumeTest, ASplitIsExactDisjointAndFixedBySeed) {
  const Contents first = whole({.validation = 0.2, .seed = 7});
  const auto train = names(first, "train");
  const auto validation = names(first, "validation");
  EXPECT_EQ(train.size(), 72U);
  EXPECT_EQ(validation.size(), 18U);
  std::multiset<std::string> both = train;
  both.insert(validation.begin(), validation.end());
  EXPECT_EQ(std::set<std::string>(both.begin(), both.end()).size(), 90U);
  EXPECT_EQ(whole({.validation = 0.2, .seed = 7, .jobs = 4}), first);
  EXPECT_NE(names(whole({.validation = 0.2, .seed = 8}), "validation"), validation);
  EXPECT_TRUE(first.contains("validation/validation.classes.txt"));
}

// Fixed for ever: who splits again next year must get the same sets.
TEST_F(ResumeTest, TheDrawIsOfOneVersion) {
  const auto validation = names(whole({.validation = 0.05, .seed = 1}), "validation");
  EXPECT_EQ(validation, (std::multiset<std::string>{"b/02.jpg", "b/07.jpg", "b/41.jpg", "b/68.jpg",
                                                    "rare/30.jpg"}));
}

TEST_F(ResumeTest, AStratifiedSplitTakesTheSameShareOfEachLabel) {
  for (const bool by_record : {false, true}) {
    MemoryStore packed;
    MemoryStore split;
    Store* from = &source_;
    if (by_record) {  // labels stand in the records and must be read
      ASSERT_TRUE(run(packed, {}));
      from = &packed;
    }
    const auto set = open_dataset(*from, {}, {});
    ASSERT_TRUE(convert(*from, **set, split,
                        {.key = "x", .validation = 1.0 / 3, .seed = 3, .stratified = true}, {}));
    std::map<std::string, int> labels;
    for (const auto& line : names(contents(split), "validation")) ++labels[line.substr(0, 2)];
    const auto validation = contents(split).at("validation/validation.lst");
    std::map<char, int> by_label;
    for (std::size_t at = 0; at < validation.size(); at = validation.find('\n', at) + 1)
      ++by_label[validation[validation.find('\t', at) + 1]];
    // 9 of "rare", 27 of "a", 54 of "b"
    EXPECT_EQ(by_label['2'], 3);
    EXPECT_EQ(by_label['0'] + by_label['1'], 27);
    EXPECT_EQ(by_label['0'], 9);
  }
}

TEST_F(ResumeTest, ASideWithoutSamplesIsRefused) {
  MemoryStore store;
  EXPECT_FALSE(run(store, {.validation = 0.001}));
  EXPECT_FALSE(run(store, {.validation = 1.0}));
  EXPECT_TRUE(contents(store).empty());
}

}  // namespace
}  // namespace headrace
