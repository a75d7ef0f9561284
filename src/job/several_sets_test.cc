// SPDX-License-Identifier: Apache-2.0
// Several sets in one job: one order, one list of classes, and as much of each as was asked.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "headrace/job/job.h"
#include "headrace/job/warm.h"
#include "headrace/records/joined/joined.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::TemporaryFolder;

class SeveralSets : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 30; ++i) {
      const char* folder = i < 12 ? "first" : "second";
      const std::string key = fmt::format("c{}/{:02}.jpg", i / 6, i);
      put(folder, key, i);
      put("whole", key, i);
    }
  }

  void put(const std::string& folder, const std::string& key, int number) const {
    const auto path = root_.path() / folder / key;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "picture " << number;
  }
  std::string uri(const std::string& folder) const { return (root_.path() / folder).string(); }

  JobOptions options(const std::vector<std::string>& folders, Mode mode = Mode::direct) const {
    JobOptions job{.uri = uri(folders.front()), .mode = mode};
    for (std::size_t i = 1; i < folders.size(); ++i) job.with.push_back(uri(folders[i]));
    if (mode == Mode::keep) job.keep_dir = (root_.path() / "keep").string();
    job.loader.batch = 4;
    job.loader.epochs = 2;
    job.loader.seed = 5;
    job.loader.threads = 3;
    job.loader.decode = false;
    return job;
  }

  struct Delivered {
    std::vector<EpochReport> epochs;
    std::map<std::uint64_t, int> times;       ///< of each sample
    std::map<std::uint64_t, float> label_of;  ///< of each sample
  };

  static Delivered run(const JobOptions& options) {
    Delivered all;
    auto job = Job::open(options, {});
    EXPECT_TRUE(job.ok()) << job.error().to_string();
    if (!job) return all;
    const std::uint64_t first = options.resume ? options.resume->epoch : 0;
    while (all.epochs.size() < options.loader.epochs - first) {
      auto batch = (*job)->loader().next({});
      if (!batch) {
        ADD_FAILURE() << batch.error().to_string();
        return all;
      }
      if (!*batch) {
        all.epochs.push_back((*job)->loader().epoch_report());
        continue;
      }
      for (std::size_t i = 0; i < (**batch)->count(); ++i) {
        const auto sample = (**batch)->slots[i].sample_id;
        ++all.times[sample];
        all.label_of[sample] = (**batch)->labels[i];
      }
    }
    return all;
  }

  static void expect_same(const Delivered& got, const Delivered& wanted) {
    ASSERT_EQ(got.epochs.size(), wanted.epochs.size());
    for (std::size_t i = 0; i < got.epochs.size(); ++i) {
      EXPECT_EQ(got.epochs[i].ledger, wanted.epochs[i].ledger);
      EXPECT_EQ(got.epochs[i].order_digest, wanted.epochs[i].order_digest);
      EXPECT_EQ(got.epochs[i].set_digest, wanted.epochs[i].set_digest);
    }
  }

  static std::string refusal(const JobOptions& options) {
    const auto job = Job::open(options, {});
    return job.ok() ? "opened" : job.error().to_string();
  }

  TemporaryFolder root_;
};

// Promise O8: Several sets are one set, that of the first's samples, then the second's, and so on:
// it has the order and the digests of a single set with the same samples in the same order.
TEST_F(SeveralSets, AreOneSetInEveryMode) {
  const auto wanted = run(options({"whole"}));
  for (const Mode mode : {Mode::direct, Mode::file, Mode::stream, Mode::keep}) {
    SCOPED_TRACE(to_string(mode));
    expect_same(run(options({"first", "second"}, mode)), wanted);
  }
  auto in_blocks = options({"whole"});
  in_blocks.loader.shuffle = *parse_shuffle("blocks:4x2");
  auto joined = options({"first", "second"});
  joined.loader.shuffle = in_blocks.loader.shuffle;
  expect_same(run(joined), run(in_blocks));
}

// Promise O11: A class that several sets have is one class, by its name.
TEST_F(SeveralSets, JoinClassesByName) {
  put("other", "c1/x.jpg", 100);
  put("other", "c9/y.jpg", 101);
  put("other", "a/z.jpg", 102);
  auto job = Job::open(options({"second", "other", "first"}), {});
  ASSERT_TRUE(job.ok()) << job.error().to_string();
  EXPECT_EQ((*job)->dataset().classes(),
            (std::vector<std::string>{"a", "c0", "c1", "c2", "c3", "c4", "c9"}));
  EXPECT_EQ(member_sizes((*job)->dataset()), (std::vector<std::uint64_t>{18, 3, 12}));
  const auto got = run(options({"second", "other", "first"}));
  const std::vector<float> labels = {3, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5,
                                     5, 0, 2, 6, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2};
  for (std::uint64_t id = 0; id < labels.size(); ++id) {
    EXPECT_EQ(got.label_of.at(id), labels[id]) << id;
    EXPECT_EQ((*job)->dataset().label(SampleId{id}), labels[id]) << id;
  }
}

TEST_F(SeveralSets, ComeAsOftenAsAsked) {
  auto job = options({"first", "second"});
  job.loader.selection.proportions.repeat = {3, 0.5};
  job.loader.selection.class_weights = {};
  const auto got = run(job);
  ASSERT_EQ(got.epochs.size(), 2U);
  EXPECT_EQ(got.epochs[0].ledger.asked, 45U);
  EXPECT_EQ(got.epochs[1].ledger.delivered, 45U);
  for (std::uint64_t id = 0; id < 30; ++id)
    EXPECT_EQ(got.times.at(id), id < 12 ? 6 : 1) << "in two epochs: " << id;
  job.loader.selection.proportions = {.shares = {3, 1}, .epoch_samples = 400};
  job.loader.epochs = 1;
  int of_first = 0;
  for (const auto& [sample, times] : run(job).times) of_first += sample < 12 ? times : 0;
  EXPECT_EQ(of_first, 300);
}

TEST_F(SeveralSets, DrawClassesAndSamplesByWeight) {
  auto job = options({"whole"});
  job.loader.epochs = 1;
  job.loader.selection.class_weights = {{"c4", 8}, {"1", 0}};
  job.loader.selection.proportions.epoch_samples = 6 * 11;
  auto got = run(job);
  for (std::uint64_t id = 0; id < 30; ++id)
    EXPECT_EQ(got.times[id], id / 6 == 4 ? 8 : id / 6 == 1 ? 0 : 1) << id;
  const auto file = root_.path() / "weights";
  std::ofstream out(file);
  for (int i = 0; i < 30; ++i) out << (i == 7 ? "2e0" : i == 8 ? "0.5" : "1") << "\n";
  out.close();
  job.loader.selection = {.sample_weights = file.string()};
  job.loader.selection.proportions.epoch_samples = 61;  // of 30.5, twice
  got = run(job);
  for (std::uint64_t id = 0; id < 30; ++id)
    EXPECT_EQ(got.times[id], id == 7 ? 4 : id == 8 ? 1 : 2) << id;
}

// The sums of all ranks are those of one; no position is delivered twice.
TEST_F(SeveralSets, AddUpOverRanks) {
  auto job = options({"first", "second"});
  job.loader.selection.proportions = {.shares = {1, 2}, .epoch_samples = 37};
  job.loader.batch = 6;
  const auto one = run(job);
  job.loader.batch = 2;
  job.loader.world = 3;
  for (std::size_t epoch = 0; epoch < 2; ++epoch) {
    Ledger ledger;
    Hash128 order;
    for (job.loader.rank = 0; job.loader.rank < 3; ++job.loader.rank) {
      const auto got = run(job);
      ledger += got.epochs.at(epoch).ledger;
      order += got.epochs.at(epoch).order_digest;
    }
    EXPECT_EQ(ledger, one.epochs.at(epoch).ledger);
    EXPECT_EQ(order, one.epochs.at(epoch).order_digest);
  }
}

TEST_F(SeveralSets, ResumeAtEveryBatch) {
  auto job = options({"first", "second"});
  job.loader.selection.proportions.repeat = {1.5, 0.7};
  job.loader.selection.class_weights = {{"c1", 3}};
  const auto whole = run(job);
  const std::uint64_t steps = (*Job::open(job, {}))->loader().steps_per_epoch();
  for (std::uint64_t calls = 0; calls <= 2 * steps + 1; ++calls) {
    auto broken = Job::open(job, {});
    for (std::uint64_t i = 0; i < calls; ++i) ASSERT_TRUE((*broken)->loader().next({}).ok());
    auto rest = job;
    rest.loader.threads = 1 + static_cast<unsigned>(calls % 5);
    rest.resume = *State::parse((*broken)->loader().state().to_text());
    const auto got = run(rest);
    const std::size_t before = rest.resume->epoch;
    ASSERT_EQ(got.epochs.size(), 2 - before);
    for (std::size_t i = 0; i < got.epochs.size(); ++i) {
      EXPECT_EQ(got.epochs[i].order_digest, whole.epochs[before + i].order_digest);
      EXPECT_EQ(got.epochs[i].ledger, whole.epochs[before + i].ledger);
    }
  }
}

TEST_F(SeveralSets, AreNotResumedAsOthers) {
  auto job = options({"first", "second"});
  job.loader.selection.proportions.repeat = {2, 1};
  auto opened = Job::open(job, {});
  ASSERT_TRUE((*opened)->loader().next({}).ok());
  const State state = (*opened)->loader().state();
  const auto resumed = [&](JobOptions other) {
    other.resume = state;
    return refusal(other);
  };
  EXPECT_EQ(resumed(job), "opened");
  auto other = job;
  other.loader.selection.proportions.repeat = {2, 1.01};
  EXPECT_NE(resumed(other).find("other proportions or weights"), std::string::npos);
  other.loader.selection = {};
  EXPECT_NE(resumed(other).find("other proportions or weights"), std::string::npos);
  other = job;
  std::swap(other.uri, other.with[0]);
  EXPECT_NE(resumed(other).find("another data set"), std::string::npos);
  put("second", "c4/new.jpg", 7);
  EXPECT_NE(resumed(job).find("another data set"), std::string::npos);
}

TEST_F(SeveralSets, NameABadSampleByItsOwnSet) {
  auto job = options({"first", "second"});
  job.loader.decode = true;  // no text is a picture
  job.loader.on_bad = OnBad::skip;
  job.loader.epochs = 1;
  job.loader.quarantine = (root_.path() / "bad").string();
  EXPECT_EQ(run(job).epochs.at(0).ledger.skipped, 30U);
  std::ifstream file(job.loader.quarantine);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_NE(text.str().find(fmt::format(R"("uri":"{}","name":"c2/12.jpg","object":"c2/12.jpg",)"
                                        R"("record":0,"sample":0)",
                                        uri("second"))),
            std::string::npos)
      << text.str();
}

TEST_F(SeveralSets, AreCopiedSideBySide) {
  const auto wanted = run(options({"whole"}));
  auto job = options({"first", "second"}, Mode::file);
  job.local = (root_.path() / "copies").string();
  expect_same(run(job), wanted);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(job.local))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_TRUE(names[0].starts_with("first-") && names[1].starts_with("second-")) << names[0];
  expect_same(run(job), wanted);  // of the copies that are there by now
}

TEST_F(SeveralSets, AreWarmedTogether) {
  auto job = options({"first", "second"}, Mode::keep);
  const auto filled = warm(job, {}, {});
  ASSERT_TRUE(filled.ok()) << filled.error().to_string();
  EXPECT_EQ(filled->samples, 30U);
  EXPECT_EQ(filled->not_kept_bytes, 0U);
  EXPECT_GT(filled->fetched_bytes, 0U);
  const auto again = warm(job, {}, {});
  EXPECT_GT(again->present_bytes, filled->present_bytes);
  expect_same(run(job), run(options({"whole"})));
}

// What can be drawn in some epoch is fetched, once, and nothing else.
TEST_F(SeveralSets, AreWarmedAsFarAsTheyAreDrawn) {
  auto job = options({"first", "second"}, Mode::keep);
  job.loader.selection.proportions = {.shares = {5, 1}, .epoch_samples = 7};
  job.loader.selection.class_weights = {{"c1", 0}, {"c2", 0.001}};
  auto filled = warm(job, {}, {});
  ASSERT_TRUE(filled.ok()) << filled.error().to_string();
  EXPECT_EQ(filled->samples, 24U);
  job.loader.selection = {};
  job.loader.selection.proportions.repeat = {0, 3};
  job.keep_dir += "-2";
  filled = warm(job, {}, {});
  ASSERT_TRUE(filled.ok()) << filled.error().to_string();
  EXPECT_EQ(filled->samples, 18U);
  job.loader.selection.proportions.repeat = {-1, 3};
  EXPECT_EQ(warm(job, {}, {}).error().code(), Code::invalid);
  job = options({"first", "second"}, Mode::keep);
  job.open.list = "train.lst";
  EXPECT_NE(warm(job, {}, {}).error().to_string().find("--list belongs to one set"),
            std::string::npos);
}

TEST_F(SeveralSets, SayWhatTheyCannotHave) {
  auto job = options({"first", "second"});
  job.local = uri("first");
  EXPECT_NE(refusal(job).find("--local belongs to one set"), std::string::npos);
  job = options({"first", "second"});
  job.open.list = "train.lst";
  EXPECT_NE(refusal(job).find("--list belongs to one set"), std::string::npos);
  job = options({"first", "second"});
  job.snapshot = {.use = SnapshotUse::refresh, .file = uri("listing")};
  EXPECT_NE(refusal(job).find("--snapshot-file belongs to one set"), std::string::npos);
  EXPECT_NE(refusal(options({"first", "second"}, Mode::pipe)).find("a pipe carries one set"),
            std::string::npos);
  job = options({"first", "second"});
  job.loader.shuffle = *parse_shuffle("balanced");
  EXPECT_EQ(refusal(job), "opened");
  job.loader.selection.proportions.repeat = {1, 2};
  EXPECT_NE(refusal(job).find("shuffle balanced cannot"), std::string::npos);
  job.loader.shuffle = Shuffle::global;
  job.loader.selection.class_weights = {{"cat", 2}};
  EXPECT_NE(refusal(job).find("no class \"cat\""), std::string::npos);
  job.loader.selection = {.sample_weights = uri("none")};
  EXPECT_NE(refusal(job).find("weights"), std::string::npos);
  for (const auto& [lines, why] : {std::pair("1\n1\n", "2 weights for 30 samples"),
                                   std::pair("1\nx\n", "weights:2: 'x' is no weight")}) {
    std::ofstream(root_.path() / "weights") << lines;
    job.loader.selection.sample_weights = uri("weights");
    EXPECT_NE(refusal(job).find(why), std::string::npos) << refusal(job);
  }
  std::ofstream many(root_.path() / "weights");
  for (int i = 0; i < 31; ++i) many << "1\n";
  many.close();
  EXPECT_NE(refusal(job).find("more weights than the 30 samples"), std::string::npos);
  EXPECT_NE(refusal(options({"first", "missing"})).find("missing"), std::string::npos);
}

}  // namespace
}  // namespace headrace
