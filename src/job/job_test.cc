// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/job.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/job/private_folder.h"
#include "headrace/job/testing/picture_folder.h"

namespace headrace {
namespace {

using testing::PictureFolder;
using testing::TemporaryFolder;

constexpr const char* kVectors = HEADRACE_TEST_DATA "/vectors";

class JobTest : public ::testing::Test {
 protected:
  JobOptions options(Mode mode) {
    JobOptions job{.uri = pictures_.path(), .mode = mode};
    if (mode == Mode::keep) job.keep_dir = (scratch_.path() / "keep").string();
    job.pipe_pairs = mode == Mode::pipe;
    job.loader.batch = 4;
    job.loader.epochs = 2;
    job.loader.transform.width = job.loader.transform.height = 16;
    return job;
  }

  static std::vector<EpochReport> run(const JobOptions& options) {
    auto job = Job::open(options, {});
    EXPECT_TRUE(job.ok()) << job.error().to_string();
    std::vector<EpochReport> reports;
    while (reports.size() < options.loader.epochs) {
      auto batch = (*job)->loader().next({});
      if (!batch) {
        ADD_FAILURE() << batch.error().to_string();
        return reports;
      }
      if (!*batch) reports.push_back((*job)->loader().epoch_report());
    }
    return reports;
  }

  PictureFolder pictures_{14, kVectors};
  TemporaryFolder scratch_;
};

// Same order, same bytes, in every mode.
TEST_F(JobTest, DeliversTheSameInEveryMode) {
  const auto wanted = run(options(Mode::direct));
  ASSERT_EQ(wanted.size(), 2U);
  for (const Mode mode : {Mode::file, Mode::stream, Mode::keep, Mode::pipe}) {
    const auto got = run(options(mode));
    ASSERT_EQ(got.size(), 2U) << to_string(mode);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(got[epoch].ledger, wanted[epoch].ledger) << to_string(mode);
      EXPECT_EQ(got[epoch].order_digest, wanted[epoch].order_digest) << to_string(mode);
      EXPECT_EQ(got[epoch].set_digest, wanted[epoch].set_digest) << to_string(mode);
    }
  }
}

std::uint64_t count(const EpochReport& report, Metric metric) {
  return report.metrics[static_cast<std::size_t>(metric)];
}

TEST_F(JobTest, KeepAsksTheOriginOnce) {
  const auto reports = run(options(Mode::keep));
  EXPECT_GT(count(reports[0], Metric::bytes_origin), 0U);
  EXPECT_EQ(count(reports[1], Metric::bytes_origin), 0U);
  EXPECT_EQ(count(reports[1], Metric::bytes_cache), count(reports[0], Metric::bytes_origin));
}

TEST_F(JobTest, DirectReadsTheLocalCopy) {
  auto job = options(Mode::direct);
  job.uri = "s3://no-such-bucket/train";
  job.local = pictures_.path();
  EXPECT_EQ(run(job).size(), 2U);
  job.local.clear();
  const auto refused = Job::open(job, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::invalid);
  EXPECT_NE(refused.error().remedy().find("--local"), std::string::npos);
}

TEST_F(JobTest, FileKeepsTheCopyThatWasAskedFor) {
  auto job = options(Mode::file);
  job.local = (scratch_.path() / "copy").string();
  run(job);
  EXPECT_TRUE(std::filesystem::exists(scratch_.path() / "copy/c0/0000.jpg"));
}

TEST_F(JobTest, LeavesNoTemporaryFoldersBehind) {
  ASSERT_EQ(setenv("HEADRACE_TMPDIR", scratch_.string().c_str(), 1), 0);
  run(options(Mode::file));
  run(options(Mode::pipe));
  for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("headrace-")) << entry.path();
  }
  unsetenv("HEADRACE_TMPDIR");
}

TEST_F(JobTest, PipeOfPicturesNeedsPairsAndSaysSo) {
  auto job = options(Mode::pipe);
  job.pipe_pairs = false;
  const auto refused = Job::open(job, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().remedy().find("pack"), std::string::npos);
  EXPECT_NE(refused.error().remedy().find("--pairs"), std::string::npos);
}

TEST_F(JobTest, PipeFindsAChannelInFileMode) {
  auto job = options(Mode::pipe);
  job.pipe_dir = scratch_.string();
  std::filesystem::create_directory(scratch_.path() / "train");
  auto opened = Job::open(job, {});
  ASSERT_TRUE(opened.ok());
  const auto batch = (*opened)->loader().next({});
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::invalid);
}

TEST_F(JobTest, OverAMediumDeliversTheSame) {
  const auto wanted = run(options(Mode::direct));
  for (const Mode mode : {Mode::direct, Mode::keep}) {
    auto job = options(mode);
    job.medium = "nvme";
    EXPECT_EQ(run(job).at(1).order_digest, wanted.at(1).order_digest);
    job.medium = "punched cards";
    EXPECT_EQ(Job::open(job, {}).error().code(), Code::invalid);
  }
}

TEST_F(JobTest, OfNothingIsAnError) {
  auto job = options(Mode::direct);
  job.uri = (scratch_.path() / "missing").string();
  EXPECT_EQ(Job::open(job, {}).error().code(), Code::not_found);
  std::filesystem::create_directory(job.uri);
  for (const Mode mode : {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::pipe}) {
    job.mode = mode;
    EXPECT_EQ(Job::open(job, {}).error().code(), Code::not_found) << to_string(mode);
  }
}

TEST_F(JobTest, EndsAtAnyMomentInEveryMode) {
  for (const Mode mode : {Mode::direct, Mode::file, Mode::stream, Mode::keep, Mode::pipe}) {
    for (int calls = 0; calls < 6; ++calls) {
      auto job = Job::open(options(mode), {});
      ASSERT_TRUE(job.ok());
      for (int i = 0; i < calls; ++i) ASSERT_TRUE((*job)->loader().next({}).ok());
    }
  }
}

TEST_F(JobTest, ResumesInEveryMode) {
  const auto wanted = run(options(Mode::direct));
  for (const Mode mode : {Mode::direct, Mode::stream, Mode::keep, Mode::pipe}) {
    auto job = Job::open(options(mode), {});
    for (int i = 0; i < 2; ++i) ASSERT_TRUE((*job)->loader().next({}).ok());
    auto rest = options(mode);
    rest.resume = (*job)->loader().state();
    job = Error(Code::cancelled, "ended");
    const auto got = run(rest);
    ASSERT_EQ(got.size(), 2U);
    for (std::size_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(got[epoch].order_digest, wanted[epoch].order_digest) << to_string(mode);
      EXPECT_EQ(got[epoch].ledger, wanted[epoch].ledger);
    }
  }
}

}  // namespace
}  // namespace headrace
