// SPDX-License-Identifier: Apache-2.0
// A shell script stands in for `headrace read`: it says what it was asked, and answers as told.
#include "headrace/advisor/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEpoch =
    R"({"epoch":0,"delivered":10,"seconds":2,"order_digest":"o","set_digest":"s",)"
    R"("bytes_origin":100,"bytes_cache":0,"requests":10})";

class RunnerTest : public testing::Test {
 protected:
  RunnerTest() {
    std::string name = "/var/tmp/headrace-runner-XXXXXX";
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "set/cat");
    std::ofstream(root_ / "set/cat/1.jpg") << "picture";
    table_.sets = {{"s3://b/set", root_ / "set"}};
    table_.modes = {Mode::direct, Mode::stream, Mode::keep};
    table_.repeats = 2;
    table_.keep_dir = root_ / "scratch";
    table_.read_flags = {"--epochs", "1"};
  }
  ~RunnerTest() override { fs::remove_all(root_); }

  /// `script` sees the arguments of `headrace read`; $answer is a measurement.
  Result<std::vector<Row>> run(const std::string& script, const std::stop_token& stop = {}) {
    const auto program = root_ / "headrace-read";
    std::ofstream(program) << "#!/bin/sh\nlog=" << (root_ / "log").string()
                           << "\nanswer='{\"launch_seconds\":0.5,\"epochs\":[" << kEpoch << "]}'\n"
                           << "uri=$1; mode=$3; echo \"$@\" >>$log\n"
                           << script << "\n";
    RunnerOptions options;
    options.program = {"/bin/sh", program.string()};
    options.server_data = server_data_;
    options.on_run = [this](const Progress& progress) {
      progress_.push_back(progress.label + " " + std::to_string(progress.done) + "/" +
                          std::to_string(progress.all));
    };
    return run_table(table_, infos_, options, stop);
  }
  std::vector<std::string> log() const {
    std::vector<std::string> lines;
    std::ifstream file(root_ / "log");
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  fs::path root_;
  TableSpec table_;
  std::vector<SetInfo> infos_{{"folder", 10, 100}};
  std::vector<std::string> server_data_;
  std::vector<std::string> progress_;
};

TEST_F(RunnerTest, EachModeIsOneRowAndRepeatsAreInterleaved) {
  const auto rows = run("echo \"$answer\"");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3U);
  for (const auto& row : *rows) {
    EXPECT_EQ(row.status, Status::ok) << row.why;
    EXPECT_EQ(row.figures->launch_seconds, 0.5);
    EXPECT_EQ(row.figures->samples_per_second, 5);
    EXPECT_EQ(row.figures->totals.size(), 2U);
    EXPECT_GT(row.figures->total_seconds, 0);
    EXPECT_EQ(row.format, "folder");
  }
  EXPECT_THAT(progress_, ElementsAre("direct 0/6", "stream 1/6", "keep 2/6", "direct 3/6",
                                     "stream 4/6", "keep 5/6"));
}

TEST_F(RunnerTest, EachMediumOfAModeIsARow) {
  table_.modes = {Mode::direct, Mode::keep};
  table_.media[Mode::direct] = {"ebs-gp3", "none"};
  table_.scale = 100;
  table_.published[Mode::direct] = 7200;
  const auto rows = run("echo \"$answer\"");
  ASSERT_TRUE(rows.ok());
  ASSERT_EQ(rows->size(), 3U);
  EXPECT_EQ((*rows)[0].label(false, true), "direct over ebs-gp3");
  EXPECT_EQ((*rows)[1].label(false, true), "direct");
  EXPECT_EQ((*rows)[1].published_seconds, 7200);
  EXPECT_FALSE((*rows)[2].published_seconds.has_value());
  for (const auto& row : *rows)
    EXPECT_EQ(row.scaled_total_seconds(), row.figures->total_seconds * 100);
}

TEST_F(RunnerTest, ModesGetTheirOwnFoldersAnewAndOptionsAreHandedOn) {
  table_.modes = {Mode::direct, Mode::file, Mode::keep};
  table_.media[Mode::file] = {"s3-standard"};
  const auto rows = run(
      "case $mode in keep) test ! -e $5 && mkdir -p $5/x;; file) test ! -e $5 && echo x >$5;; esac "
      "|| exit 1\necho \"$answer\"");
  ASSERT_TRUE(rows.ok());
  for (const auto& row : *rows) EXPECT_EQ(row.status, Status::ok) << row.why;
  const auto lines = log();
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0],
            "s3://b/set --mode direct --local " + (root_ / "set").string() + " --epochs 1 --json");
  EXPECT_THAT(lines[1], HasSubstr("--mode file --local " + table_.keep_dir));
  EXPECT_THAT(lines[1], HasSubstr("/file --medium s3-standard --epochs 1 --json"));
  EXPECT_THAT(lines[2], HasSubstr("--mode keep --keep-dir " + table_.keep_dir));
  EXPECT_NE(lines[2], lines[5]);
  EXPECT_TRUE(fs::is_empty(table_.keep_dir)) << "scratch folders stay behind";
}

TEST_F(RunnerTest, WhatCannotRunIsARowWithTheReason) {
  table_.sets[0].local.clear();
  table_.modes = {Mode::direct, Mode::pipe};
  const auto rows = run("echo \"$answer\"");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[0].status, Status::not_run);
  EXPECT_THAT((*rows)[0].why, HasSubstr("--local"));
  EXPECT_EQ((*rows)[1].status, Status::not_run);
  EXPECT_THAT((*rows)[1].why, HasSubstr("needs packing (headrace pack) or pairs"));
  EXPECT_TRUE(log().empty());
}

TEST_F(RunnerTest, PipeRunsOnAPackedSet) {
  table_.modes = {Mode::pipe};
  infos_[0].format = "recordio";
  const auto rows = run("echo \"$answer\"");
  EXPECT_EQ((*rows)[0].status, Status::ok);
}

TEST_F(RunnerTest, AFailedModeSaysWhyAndIsNotRepeated) {
  const auto rows = run(
      "test $mode = stream && { echo noise >&2; echo 'headrace: unavailable: s3://b: refused' >&2; "
      "exit 1; }\necho \"$answer\"");
  ASSERT_TRUE(rows.ok());
  EXPECT_EQ((*rows)[1].status, Status::failed);
  EXPECT_EQ((*rows)[1].why, "unavailable: s3://b: refused");
  EXPECT_FALSE((*rows)[1].figures.has_value());
  EXPECT_EQ((*rows)[0].status, Status::ok);
  EXPECT_EQ(log().size(), 5U);
}

TEST_F(RunnerTest, SilentEndsAndBadAnswersAreFailuresToo) {
  table_.modes = {Mode::direct};
  EXPECT_EQ((*run("exit 3"))[0].why, "exit code 3");
  EXPECT_EQ((*run("kill -9 $$"))[0].why, "ended by signal 9");
  EXPECT_THAT((*run("echo nonsense"))[0].why, HasSubstr("no JSON object"));
  EXPECT_THAT((*run("echo '{\"launch_seconds\":1}'"))[0].why, HasSubstr("epochs"));
}

TEST_F(RunnerTest, ColdIsProvenForFilesOfThisMachineOnly) {
  const auto rows = run("echo \"$answer\"");
  EXPECT_EQ((*rows)[0].figures->cold, Cold::verified);
  EXPECT_EQ((*rows)[1].figures->cold, Cold::unverified);
  server_data_ = {(root_ / "set").string()};
  EXPECT_EQ((*run("echo \"$answer\""))[1].figures->cold, Cold::verified);
}

TEST_F(RunnerTest, ALocalUriIsReadAsItIs) {
  table_.sets[0] = {(root_ / "set").string(), ""};
  table_.modes = {Mode::direct};
  const auto rows = run("echo \"$answer\"");
  EXPECT_EQ((*rows)[0].status, Status::ok);
  EXPECT_EQ((*rows)[0].figures->cold, Cold::verified);
  EXPECT_THAT(log()[0], Not(HasSubstr("--local")));
}

TEST_F(RunnerTest, JoinedSetsAreReadTogetherAndDirectReadsTheirCopies) {
  table_.sets[0].with = {"s3://b/more"};
  table_.sets[0].with_local = {(root_ / "set/cat").string()};
  table_.modes = {Mode::direct, Mode::stream, Mode::pipe};
  table_.repeats = 1;
  const auto rows = run("echo \"$answer\"");
  EXPECT_THAT(log()[0], HasSubstr((root_ / "set").string() + " " + (root_ / "set/cat").string() +
                                  " --mode direct --epochs"));
  EXPECT_EQ((*rows)[0].figures->cold, Cold::verified);
  EXPECT_THAT(log()[1], HasSubstr("s3://b/set s3://b/more --mode stream"));
  EXPECT_EQ((*rows)[2].status, Status::not_run);
  EXPECT_THAT((*rows)[2].why, HasSubstr("a pipe carries one set"));
}

TEST_F(RunnerTest, AStopEndsTheRunAndTheComparison) {
  std::stop_source stop;
  const std::jthread stopper([&] {
    while (log().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  const auto rows = run("exec sleep 60", stop.get_token());
  ASSERT_FALSE(rows.ok());
  EXPECT_EQ(rows.error().code(), Code::cancelled);
  EXPECT_EQ(log().size(), 1U);
  EXPECT_TRUE(fs::is_empty(table_.keep_dir));
}

TEST_F(RunnerTest, NoRoomForScratchFilesIsAnError) {
  table_.keep_dir = "/proc/no/such";
  const auto rows = run("echo \"$answer\"");
  ASSERT_FALSE(rows.ok());
  EXPECT_THAT(rows.error().to_string(), HasSubstr("/proc/no/such"));
}

TEST(LastWords, AreTheLastLineThatSaysSomething) {
  EXPECT_EQ(last_words(""), "");
  EXPECT_EQ(last_words("\n \n"), "");
  EXPECT_EQ(last_words("a\nheadrace: denied: no\n\n"), "denied: no");
  EXPECT_EQ(last_words("a\nb"), "b");
}

}  // namespace
}  // namespace headrace::advisor
