// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/read_job.h"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <thread>

#include "headrace/job/accelerator.h"
#include "headrace/job/testing/picture_folder.h"

namespace headrace {
namespace {

using testing::PictureFolder;
using testing::TemporaryFolder;

constexpr const char* kVectors = HEADRACE_TEST_DATA "/vectors";

class ReadJobTest : public ::testing::Test {
 protected:
  ReadOptions options() {
    ReadOptions read;
    read.job.uri = pictures_.path();
    read.job.loader.batch = 4;
    read.job.loader.epochs = 3;
    read.job.loader.transform.width = read.job.loader.transform.height = 16;
    return read;
  }
  std::string state_file() { return (scratch_.path() / "state").string(); }

  PictureFolder pictures_{14, kVectors};
  PictureFolder validation_{5, kVectors};
  TemporaryFolder scratch_;
};

void expect_same(const std::vector<EpochResult>& got, const std::vector<EpochResult>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i].report.epoch, wanted[i].report.epoch);
    EXPECT_EQ(got[i].report.ledger, wanted[i].report.ledger);
    EXPECT_EQ(got[i].report.order_digest, wanted[i].report.order_digest);
    EXPECT_EQ(got[i].report.set_digest, wanted[i].report.set_digest);
  }
}

TEST_F(ReadJobTest, ReportsEveryEpoch) {
  const auto report = run_read(options(), {}, {});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->samples, 14U);
  EXPECT_EQ(report->classes, 3U);
  EXPECT_EQ(report->format, "folder");
  EXPECT_GT(report->launch_seconds, 0.0);
  EXPECT_GE(report->total_seconds, report->launch_seconds);
  ASSERT_EQ(report->epochs.size(), 3U);
  EXPECT_FALSE(report->epochs[0].accelerator_busy);
  std::uint64_t bytes = 0;
  for (const auto& epoch : report->epochs) {
    bytes += epoch.report.metrics[static_cast<std::size_t>(Metric::bytes_origin)];
  }
  EXPECT_EQ(bytes, report->totals[static_cast<std::size_t>(Metric::bytes_origin)]);
}

TEST_F(ReadJobTest, ReadsTheValidationSetAfterEachEpoch) {
  auto with = options();
  with.validation = validation_.path();
  const auto report = run_read(with, {}, {});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  ASSERT_EQ(report->validation.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(report->validation[i].report.epoch, i);
    EXPECT_EQ(report->validation[i].report.ledger, (Ledger{.asked = 5, .delivered = 5}));
    EXPECT_EQ(report->validation[i].report.order_digest, report->validation[0].report.order_digest);
  }
}

TEST_F(ReadJobTest, RefusesAnUnknownClassInValidationBeforeTheFirstBatch) {
  auto with = options();
  with.validation = validation_.path();
  std::filesystem::create_directory(validation_.path() + "/zebra");
  std::filesystem::copy(validation_.file(0), validation_.path() + "/zebra/1.jpg");
  with.state_file = state_file();
  const auto refused = run_read(with, {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("zebra"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(state_file()));
}

/// Stops the job after a while; the state file says how far it came.
void break_off(ReadOptions options, std::chrono::milliseconds after) {
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(after);
    stop.request_stop();
  });
  const auto stopped = run_read(options, {}, stop.get_token());
  EXPECT_TRUE(stopped.ok() || stopped.error().code() == Code::cancelled);
}

TEST_F(ReadJobTest, GoesOnFromItsStateAsIfUnbroken) {
  auto with = options();
  with.validation = validation_.path();
  const auto unbroken = run_read(with, {}, {});
  ASSERT_TRUE(unbroken.ok());
  for (const int after : {0, 15, 30, 45, 60, 90, 120}) {
    with.state_file = state_file();
    with.accelerator_rate = 400;  // 35 ms an epoch
    with.resume.reset();
    std::filesystem::remove(state_file());
    break_off(with, std::chrono::milliseconds(after));
    if (!std::filesystem::exists(state_file())) continue;  // before the first batch
    const std::array<std::string, 1> files{state_file()};
    const auto state = load_read_state(files);
    ASSERT_TRUE(state.ok()) << state.error().to_string();
    with.accelerator_rate = 0;
    with.resume = *state;
    with.job.loader.threads = 1 + static_cast<unsigned>(after) % 7;
    const auto rest = run_read(with, {}, {});
    ASSERT_TRUE(rest.ok()) << rest.error().to_string();
    EXPECT_TRUE(rest->resumed_from.has_value());
    expect_same(rest->epochs, unbroken->epochs);
    expect_same(rest->validation, unbroken->validation);
  }
}

// One rank becomes two with the same global batch: the sums of both are those of an unbroken job.
TEST_F(ReadJobTest, GoesOnWithTwoRanks) {
  const auto unbroken = run_read(options(), {}, {});
  auto with = options();
  with.state_file = state_file();
  with.accelerator_rate = 20;  // 2 s in all
  // A slow machine may need longer to its first batch.
  for (auto after = std::chrono::milliseconds(60); !std::filesystem::exists(state_file());
       after *= 2) {
    ASSERT_LT(after, std::chrono::minutes(1));
    break_off(with, after);
  }
  const std::array<std::string, 1> files{state_file()};
  with.resume = *load_read_state(files);
  with.state_file.clear();
  with.accelerator_rate = 0;
  with.job.loader.batch = 2;
  with.job.loader.world = 2;
  std::map<std::uint64_t, EpochReport> sums;
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    with.job.loader.rank = rank;
    const auto rest = run_read(with, {}, {});
    ASSERT_TRUE(rest.ok()) << rest.error().to_string();
    for (const auto& epoch : rest->epochs) {
      EpochReport& sum = sums[epoch.report.epoch];
      sum.ledger += epoch.report.ledger;
      sum.order_digest += epoch.report.order_digest;
      sum.set_digest += epoch.report.set_digest;
    }
  }
  ASSERT_EQ(sums.size(), 3U);
  for (const auto& epoch : unbroken->epochs) {
    EXPECT_EQ(sums[epoch.report.epoch].ledger, epoch.report.ledger);
    EXPECT_EQ(sums[epoch.report.epoch].order_digest, epoch.report.order_digest);
    EXPECT_EQ(sums[epoch.report.epoch].set_digest, epoch.report.set_digest);
  }
}

TEST_F(ReadJobTest, CallsItsProgressHook) {
  auto with = options();
  with.accelerator_rate = 20;
  with.job.loader.epochs = 1;
  std::atomic<int> calls = 0;
  const auto report = run_read(with,
                               {.progress =
                                    [&calls](const ReadProgress& progress) {
                                      EXPECT_FALSE(progress.phase.empty());
                                      ++calls;
                                    }},
                               {});
  ASSERT_TRUE(report.ok());
  EXPECT_GE(calls, 1);
}

TEST(ReadState, GoesThroughItsText) {
  ReadState state;
  state.state.tail = "keep";
  state.state.seed = 5;
  EpochResult epoch;
  epoch.report = {.epoch = 1,
                  .ledger = {.asked = 7, .delivered = 5, .skipped = 2},
                  .order_digest = {1, 2},
                  .set_digest = {3, 4},
                  .seconds = 1.5};
  epoch.report.metrics[0] = 99;
  epoch.accelerator_busy = 0.75;
  state.epochs = {epoch, epoch};
  state.validation = {epoch};
  const auto parsed = ReadState::parse(state.to_text());
  ASSERT_TRUE(parsed.ok()) << parsed.error().to_string();
  EXPECT_EQ(parsed->state, state.state);
  expect_same(parsed->epochs, state.epochs);
  expect_same(parsed->validation, state.validation);
  EXPECT_EQ(parsed->epochs[0].accelerator_busy, 0.75);
  EXPECT_EQ(parsed->epochs[0].report.metrics, epoch.report.metrics);
  EXPECT_FALSE(ReadState::parse(state.to_text() + "epoch-ended epoch=1 seconds=x\n").ok());
}

TEST(ReadState, IsReplacedWholeOrNotAtAll) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "state").string();
  ASSERT_TRUE(save({.state = {.seed = 1, .tail = "keep"}}, path).ok());
  ASSERT_TRUE(save({.state = {.seed = 2, .tail = "keep"}}, path).ok());
  const std::array<std::string, 1> files{path};
  EXPECT_EQ(load_read_state(files)->state.seed, 2U);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
  EXPECT_EQ(save({}, "/nonexistent/state").error().code(), Code::not_found);
  const std::array<std::string, 1> missing{(folder.path() / "none").string()};
  EXPECT_EQ(load_read_state(missing).error().code(), Code::not_found);
}

/// Time passes only by sleeping.
class SleepClock final : public Clock {
 public:
  /// Every sleep is longer than asked for by `late`.
  explicit SleepClock(Nanos late = Nanos{0}) : late_(late) {}

  Nanos now() const override { return now_; }
  bool sleep_until(Nanos when, const std::stop_token& stop) override {
    now_ = when + late_;
    return !stop.stop_requested();
  }
  std::int64_t wall_seconds() const override { return 0; }

 private:
  const Nanos late_;
  Nanos now_{0};
};

TEST(Accelerator, IsBusyForTheShareThatItComputed) {
  SleepClock clock;
  Accelerator accelerator(clock, 10);  // a batch of 5 takes half a second
  accelerator.begin_epoch();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(accelerator.step(5, {}));
    if (i < 2) clock.sleep_for(std::chrono::milliseconds(500), {});  // waits for its data
  }
  // The first step does not count: waits 0.5, computes 0.5, waits 0.5, computes 0.5.
  EXPECT_DOUBLE_EQ(*accelerator.busy(), 0.5);
  accelerator.begin_epoch();
  EXPECT_FALSE(accelerator.busy());
}

TEST(Accelerator, ASleepThatEndsLateIsNoWaiting) {
  SleepClock clock(std::chrono::milliseconds(50));
  Accelerator accelerator(clock, 10);
  accelerator.begin_epoch();
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(accelerator.step(5, {}));
  EXPECT_DOUBLE_EQ(*accelerator.busy(), 1.0);
  clock.sleep_for(std::chrono::milliseconds(450),
                  {});  // 50 ms late itself: half a second of waiting
  EXPECT_TRUE(accelerator.step(5, {}));
  EXPECT_DOUBLE_EQ(*accelerator.busy(), 2.0 / 2.5);
}

TEST(Accelerator, WithoutARateIsNeverBusy) {
  Accelerator none(real_clock(), 0);
  EXPECT_TRUE(none.step(100, {}));
  EXPECT_FALSE(none.busy());
}

TEST(Accelerator, Stops) {
  Accelerator slow(real_clock(), 1e-3);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(slow.step(1, stop.get_token()));
}

}  // namespace
}  // namespace headrace
