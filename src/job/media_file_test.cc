// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/media_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "headrace/base/data_file.h"

namespace headrace {
namespace {

using testing::HasSubstr;

class MediaFileTest : public testing::Test {
 protected:
  MediaFileTest() { std::filesystem::create_directories(dir_); }
  ~MediaFileTest() override { std::filesystem::remove_all(dir_); }

  Result<MediaFile> load(const std::string& medium) {
    std::ofstream(dir_ / "media.yaml")
        << "schema: 1\ndate: 2026-01-02\nsources: {page: \"a page\"}\n"
        << "media:\n  m:\n"
        << medium;
    return load_media(dir_ / "media.yaml");
  }
  std::string error_of(const std::string& medium) {
    const auto file = load(medium);
    return file ? "" : file.error().to_string();
  }

  const std::filesystem::path dir_ =
      std::filesystem::temp_directory_path() / ("headrace-media-" + std::to_string(::getpid()));
};

TEST_F(MediaFileTest, EveryMediumThatCommandsNameIsThere) {
  const auto file = load_media();
  ASSERT_TRUE(file) << file.error().to_string();
  EXPECT_FALSE(file->date.empty());
  for (const char* name :
       {"s3-standard", "s3-express", "efs-elastic", "efs-bursting", "fsx-scratch2",
        "fsx-scratch2-unloaded", "fsx-persistent2-125", "fsx-persistent2-250",
        "fsx-persistent2-500", "fsx-persistent2-1000", "ebs-gp2", "ebs-gp3", "ebs-io2", "nvme",
        "fastfile-sagemaker", "pipe-sagemaker"}) {
    const auto entry = file->find(name);
    ASSERT_TRUE(entry) << name;
    EXPECT_FALSE((*entry)->about.empty()) << name;
    EXPECT_GT((*entry)->medium.first_byte_median_ms, 0) << name;
    EXPECT_GT((*entry)->medium.rate_total_MBps, 0) << name;
    for (const Figure& figure : (*entry)->figures)
      EXPECT_FALSE(figure.verified && figure.fitted) << name << " " << figure.name;
  }
  EXPECT_TRUE((*file->find("pipe-sagemaker"))->medium.one_stream);
  EXPECT_FALSE((*file->find("s3-standard"))->medium.one_stream);
}

TEST_F(MediaFileTest, FigureKeepsItsSource) {
  const auto file = load(
      "    first_byte_latency_ms: {p99: {value: 7.5, source: page, verified: true, note: n}}\n"
      "    prices: {get_per_1000: {value: 0.5, source: page, verified: false, fitted: true}}\n");
  ASSERT_TRUE(file) << file.error().to_string();
  const MediumEntry& entry = file->media.at(0);
  EXPECT_EQ(entry.medium.first_byte_p99_ms, 7.5);
  ASSERT_EQ(entry.figures.size(), 1U);
  EXPECT_EQ(entry.figures[0].name, "first_byte_latency_ms.p99");
  EXPECT_EQ(entry.figures[0].source, "a page");
  EXPECT_TRUE(entry.figures[0].verified);
  EXPECT_EQ(entry.figures[0].note, "n");
  ASSERT_EQ(entry.prices.size(), 1U);
  EXPECT_EQ(entry.prices[0].name, "get_per_1000");
  EXPECT_TRUE(entry.prices[0].fitted);
  EXPECT_EQ(file->date, "2026-01-02");
}

TEST_F(MediaFileTest, UnknownMediumNamesTheOthers) {
  const auto file = load("    streams: one\n");
  ASSERT_TRUE(file);
  const auto entry = file->find("floppy");
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code(), Code::invalid);
  EXPECT_THAT(entry.error().to_string(), HasSubstr("one of m"));
}

TEST_F(MediaFileTest, BadFilesSayWhere) {
  EXPECT_THAT(error_of("    speed: {value: 1, source: page, verified: true}\n"),
              HasSubstr("unknown field speed"));
  EXPECT_THAT(error_of("    rate_total_MBps: {value: 1, source: page}\n"), HasSubstr("verified"));
  EXPECT_THAT(error_of("    rate_total_MBps: {value: 1, source: x, verified: true}\n"),
              HasSubstr("no source x"));
  EXPECT_THAT(error_of("    rate_total_MBps: {value: -1, source: page, verified: true}\n"),
              HasSubstr("negative"));
  EXPECT_THAT(error_of("    rate_total_MBps: {value: x, source: page, verified: true}\n"),
              HasSubstr("media.yaml"));
  EXPECT_THAT(error_of("    rate_total_MBps: 3\n"), HasSubstr("line 6"));
  EXPECT_THAT(error_of("    streams: few\n"), HasSubstr("neither one nor many"));
  EXPECT_THAT(error_of("  - [\n"), HasSubstr("media.yaml"));
  EXPECT_EQ(load_media(dir_ / "absent.yaml").error().code(), Code::not_found);
}

TEST_F(MediaFileTest, DataDirOfTheEnvironmentIsTheOnlyPlace) {
  ::setenv("HEADRACE_DATA_DIR", dir_.c_str(), 1);
  const auto absent = find_data_file("media.yaml");
  std::ofstream(dir_ / "media.yaml") << "x";
  const auto found = find_data_file("media.yaml");
  ::unsetenv("HEADRACE_DATA_DIR");
  EXPECT_EQ(absent.error().code(), Code::not_found);
  ASSERT_TRUE(found);
  EXPECT_EQ(*found, dir_ / "media.yaml");
}

}  // namespace
}  // namespace headrace
