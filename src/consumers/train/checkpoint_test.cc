// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/train/checkpoint.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace headrace {
namespace {

namespace fs = std::filesystem;

class CheckpointTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "headrace-checkpoint-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  static void write(const fs::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  fs::path folder_;
};

const Checkpoint kSome{R"({"recipe":{}})", std::string("PK\0\n\n archive", 14)};

TEST_F(CheckpointTest, ReadsBackWhatWasWritten) {
  const std::string path = (folder_ / "new" / "last.ckpt").string();
  ASSERT_TRUE(write_checkpoint(path, kSome).ok());
  ASSERT_TRUE(write_checkpoint(path, kSome).ok());  // over the old one
  const auto read = read_checkpoint(path);
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  ASSERT_TRUE(read->has_value());
  EXPECT_EQ((*read)->meta, kSome.meta);
  EXPECT_EQ((*read)->archive, kSome.archive);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "new"), {}), 1);  // nothing beside it
}

TEST_F(CheckpointTest, NoFileIsNothing) {
  const auto read = read_checkpoint((folder_ / "last.ckpt").string());
  ASSERT_TRUE(read.ok());
  EXPECT_FALSE(read->has_value());
}

TEST_F(CheckpointTest, EveryCutAndEveryChangedByteIsFound) {
  const std::string whole = kSome.to_bytes();
  ASSERT_TRUE(Checkpoint::parse(whole).ok());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Checkpoint::parse(whole.substr(0, size)).ok()) << size;
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(Checkpoint::parse(changed).ok()) << at;
  }
  EXPECT_FALSE(Checkpoint::parse(whole + "x").ok());
}

TEST_F(CheckpointTest, AnotherVersionIsNamed) {
  const auto parsed = Checkpoint::parse("headrace-checkpoint 2\n{}\n");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.error().code(), Code::invalid);
  EXPECT_NE(parsed.error().to_string().find("version 2"), std::string::npos);
}

TEST_F(CheckpointTest, DamageNamesTheFile) {
  const std::string path = (folder_ / "last.ckpt").string();
  write(path, "headrace-checkpoint 1\n{}\n");
  const auto read = read_checkpoint(path);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::corrupt);
  EXPECT_EQ(read.error().place(), path);
}

TEST_F(CheckpointTest, AFailedWriteLeavesTheOldOne) {
  const std::string path = (folder_ / "last.ckpt").string();
  ASSERT_TRUE(write_checkpoint(path, kSome).ok());
  fs::create_directory(path + ".tmp");  // in the way of the new file
  const auto written = write_checkpoint(path, {"{}", "other"});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().place(), path + ".tmp");
  EXPECT_EQ((*read_checkpoint(path))->archive, kSome.archive);
}

TEST_F(CheckpointTest, AFullDiskIsSaidAndLeavesNothingBeside) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  const std::string path = (folder_ / "last.ckpt").string();
  ASSERT_TRUE(write_checkpoint(path, kSome).ok());
  fs::create_symlink("/dev/full", path + ".tmp");
  const auto written = write_checkpoint(path, {"{}", std::string(100'000, 'x')});
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code(), Code::exhausted);
  EXPECT_FALSE(fs::is_symlink(path + ".tmp"));
  EXPECT_EQ((*read_checkpoint(path))->archive, kSome.archive);
}

}  // namespace
}  // namespace headrace
