// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/trainer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "headrace/base/random.h"
#include "headrace/consumers/train/checkpoint.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kSamples = 22;
constexpr std::uint64_t kBatch = 4;
constexpr std::uint64_t kSteps = (kSamples + kBatch - 1) / kBatch;
constexpr std::size_t kPixels = 8 * 8;

class PixelBatch final : public Batch {
 public:
  std::span<std::byte> pixels() override { return std::as_writable_bytes(std::span(memory)); }
  std::vector<float> memory;
};

/// Samples that are a function of their number; stands where its state does, as a loader must.
class NumberLoader final : public Loader {
 public:
  NumberLoader(State state, std::uint64_t epochs) : state_(std::move(state)), epochs_(epochs) {
    state_.seed = 5;
    state_.samples = kSamples;
    state_.global_batch = kBatch;
    state_.tail = "keep";
  }

  Result<std::optional<std::unique_ptr<Batch>>> next(const std::stop_token& stop) override {
    if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
    if (state_.epoch >= epochs_) return std::optional<std::unique_ptr<Batch>>();
    if (state_.position >= kSamples) {
      report_ = {.epoch = state_.epoch,
                 .order_digest = state_.order_digest,
                 .set_digest = state_.set_digest};
      ++state_.epoch;
      state_.position = 0;
      state_.order_digest = state_.set_digest = {};
      return std::optional<std::unique_ptr<Batch>>();
    }
    auto batch = std::make_unique<PixelBatch>();
    batch->epoch = state_.epoch;
    batch->step = state_.position / kBatch;
    for (std::uint64_t i = 0; i < kBatch && state_.position < kSamples; ++i) add(*batch);
    if (edit) edit(*batch);
    return std::optional<std::unique_ptr<Batch>>(std::move(batch));
  }
  const EpochReport& epoch_report() const override { return report_; }
  State state() const override { return state_; }
  std::uint64_t steps_per_epoch() const override { return kSteps; }
  Progress progress() const override { return {}; }

  std::function<void(PixelBatch&)> edit;  ///< what a test does to each batch

 private:
  void add(PixelBatch& batch) {
    const std::uint64_t id = mix_key(state_.epoch, state_.position) % kSamples;
    batch.slots.push_back({.position = state_.position, .sample_id = id});
    batch.labels.push_back(static_cast<float>(id % 2));
    Random random(id);
    for (std::size_t i = 0; i < kPixels; ++i) {
      batch.memory.push_back(
          static_cast<float>(random.uniform() + static_cast<double>(id % 2) * (i < 32 ? 1 : 0)));
    }
    state_.order_digest += {0, mix_key(state_.position, id)};
    state_.set_digest += {0, id};
    ++state_.position;
  }

  State state_;
  std::uint64_t epochs_;
  EpochReport report_;
};

class TrainerTest : public testing::Test {
 protected:
  struct Run {
    Result<Ended> ended;
    Progress progress;
    std::string log;
  };
  using Prepare = std::function<void(NumberLoader& train, NumberLoader& validation)>;

  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "headrace-trainer-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path run_folder() const { return folder_ / "run"; }
  std::string last() const { return (run_folder() / "last.ckpt").string(); }

  /// Goes on from last.ckpt where there is one.
  Run run(std::uint64_t epochs, const Prepare& prepare = {}, const std::stop_token& stop = {},
          std::uint64_t every = 2) {
    Progress progress;
    State state;
    const auto learner = *Learner::make(
        {.model = "resnet20", .channels = 1, .height = 8, .width = 8, .classes = 2, .threads = 1},
        *group_);
    if (const auto saved = *read_checkpoint(last())) {
      const auto meta = nlohmann::json::parse(saved->meta);
      progress = *parse_progress(meta["progress"]);
      state = *State::parse(meta["states"][0].get<std::string>());
      EXPECT_TRUE(learner->load(saved->archive).ok());
    }
    NumberLoader train(state, epochs);
    State fresh;
    fresh.epoch = progress.current.epoch;
    NumberLoader validation(fresh, epochs);
    if (prepare) prepare(train, validation);
    std::string log;
    TrainerOptions options{.epochs = epochs,
                           .classes = 2,
                           .schedule = {.curve = Curve::cosine, .base = 0.05, .epochs = epochs},
                           .checkpoint = run_folder().string(),
                           .checkpoint_every = every,
                           .losses = true};
    Trainer trainer({*learner, *group_, train, &validation, real_clock(),
                     [&log](const std::string& line) { log += line + "\n"; }},
                    options, progress);
    auto ended = trainer.run(stop);
    return {std::move(ended), trainer.progress(), log};
  }

  /// All but the times, which no two runs share.
  static nlohmann::json timeless(const Progress& progress) {
    auto json = to_json(progress);
    for (auto& epoch : json["done"]) {
      epoch.erase("seconds");
      epoch.erase("samples_per_second");
    }
    json["current"].erase("seconds");
    json["current"].erase("samples_per_second");
    return json;
  }

  const std::unique_ptr<Group> group_ = single_group();
  fs::path folder_;
};

TEST_F(TrainerTest, TrainsValidatesAndKeepsTheBest) {
  const Run done = run(3);
  ASSERT_TRUE(done.ended.ok()) << done.ended.error().to_string();
  EXPECT_EQ(*done.ended, Ended::finished);
  ASSERT_EQ(done.progress.done.size(), 3U);
  for (const auto& record : done.progress.done) {
    EXPECT_EQ(record.train.samples, kSamples);
    EXPECT_EQ(record.validation->samples, kSamples);
    EXPECT_EQ(record.losses.size(), kSteps);
    EXPECT_EQ(record.order_digest.size(), 32U);
  }
  EXPECT_LT(done.progress.done[2].train_loss(), done.progress.done[0].train_loss());
  EXPECT_TRUE(fs::exists(run_folder() / "best.ckpt"));
  EXPECT_NE(done.log.find("Epoch[0] Train-accuracy=0."), std::string::npos);
  EXPECT_NE(done.log.find("Epoch[2] Time cost="), std::string::npos);
  EXPECT_NE(done.log.find("Epoch[1] Validation-accuracy="), std::string::npos);
  EXPECT_NE(done.log.find("Storing the best model with validation accuracy: "), std::string::npos);
}

TEST_F(TrainerTest, StoppedAnywhereAndResumedItEndsAsAnUnbrokenRun) {
  const auto unbroken = timeless(run(2).progress);
  fs::remove_all(run_folder());

  // A stop at each step of training and validation in turn, each followed by a resume.
  int attempts = 0;
  for (bool finished = false; !finished; ++attempts) {
    ASSERT_LT(attempts, 60);
    std::stop_source stop;
    int batches = 0;
    const int last = 1 + attempts % 3;
    const auto count = [&](PixelBatch&) {
      if (++batches == last) stop.request_stop();
    };
    const Run part = run(
        2,
        [&](NumberLoader& train, NumberLoader& validation) {
          train.edit = count;
          if (attempts % 2 == 0) validation.edit = count;
        },
        stop.get_token(), 0);
    ASSERT_TRUE(part.ended.ok()) << part.ended.error().to_string();
    finished = *part.ended == Ended::finished;
    if (finished) {
      EXPECT_EQ(timeless(part.progress), unbroken);
    }
  }
  EXPECT_GT(attempts, 4);
}

TEST_F(TrainerTest, AStopDoesNotWaitForTheStep) {
  std::stop_source stop;
  const Run stopped = run(
      1,
      [&](NumberLoader& train, NumberLoader&) {
        train.edit = [&](const PixelBatch& batch) {
          if (batch.step == 2) stop.request_stop();
        };
      },
      stop.get_token(), 0);
  EXPECT_EQ(*stopped.ended, Ended::stopped);
  EXPECT_EQ(stopped.progress.current.train.samples, 2 * kBatch) << "the third was given up";
  std::uint64_t first = kSteps;
  const Run rest = run(1, [&](NumberLoader& train, NumberLoader&) {
    train.edit = [&](const PixelBatch& batch) { first = std::min(first, batch.step); };
  });
  EXPECT_EQ(*rest.ended, Ended::finished);
  EXPECT_EQ(first, 2U) << "and is the first of the resumed run";
}

TEST_F(TrainerTest, KilledAtAnyStepItEndsAsAnUnbrokenRun) {
  const auto unbroken = timeless(run(2).progress);
  fs::remove_all(run_folder());

  // Like a kill: an error from inside, after which nothing more is written.
  for (std::uint64_t killed = 0; killed < 2 * kSteps; ++killed) {
    const Run part = run(2, [&](NumberLoader& train, NumberLoader&) {
      train.edit = [=](PixelBatch& batch) {
        if (batch.epoch * kSteps + batch.step == killed) batch.labels[0] = -1;
      };
    });
    ASSERT_FALSE(part.ended.ok());
  }
  const Run rest = run(2);
  ASSERT_TRUE(rest.ended.ok());
  EXPECT_EQ(timeless(rest.progress), unbroken);
}

TEST_F(TrainerTest, AResumedJobThatWasDoneDoesNothing) {
  const Run done = run(1);
  const Run again = run(1);
  ASSERT_TRUE(again.ended.ok());
  EXPECT_EQ(*again.ended, Ended::finished);
  EXPECT_EQ(to_json(again.progress), to_json(done.progress));
  EXPECT_EQ(again.log, "");
}

TEST_F(TrainerTest, PaddingIsNotLearntFrom) {
  const auto plain = timeless(run(1).progress);
  fs::remove_all(run_folder());
  const Run padded = run(1, [](NumberLoader& train, NumberLoader& validation) {
    const auto pad = [](PixelBatch& batch) {
      while (batch.count() < kBatch) {
        batch.slots.push_back({.padding = true});
        batch.labels.push_back(1);
        batch.memory.insert(batch.memory.end(), kPixels, 100.0F);
      }
    };
    train.edit = validation.edit = pad;
  });
  ASSERT_TRUE(padded.ended.ok());
  EXPECT_EQ(timeless(padded.progress), plain);
}

TEST_F(TrainerTest, AnEmptyBatchIsPassedOver) {
  const Run done = run(1, [](NumberLoader& train, NumberLoader&) {
    train.edit = [](PixelBatch& batch) {
      if (batch.step != 2) return;
      batch.slots.clear();
      batch.labels.clear();
      batch.memory.clear();
    };
  });
  ASSERT_TRUE(done.ended.ok()) << done.ended.error().to_string();
  EXPECT_EQ(done.progress.done[0].train.samples, kSamples - kBatch);
}

TEST_F(TrainerTest, LabelsThatAreNoClassNameTheSample) {
  for (const float label : {2.0F, -1.0F, 0.5F, std::numeric_limits<float>::quiet_NaN()}) {
    const Run done = run(1, [=](NumberLoader& train, NumberLoader&) {
      train.edit = [=](PixelBatch& batch) { batch.labels[1] = label; };
    });
    ASSERT_FALSE(done.ended.ok()) << label;
    EXPECT_EQ(done.ended.error().code(), Code::invalid);
    EXPECT_NE(done.ended.error().to_string().find("label"), std::string::npos);
  }
  const Run wide = run(1, [](NumberLoader& train, NumberLoader&) {
    train.edit = [](PixelBatch& batch) { batch.label_width = 2; };
  });
  ASSERT_FALSE(wide.ended.ok());
  EXPECT_EQ(wide.ended.error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace
