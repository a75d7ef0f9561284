// SPDX-License-Identifier: Apache-2.0
// What is written past the page cache is what was appended, in whatever pieces; and is left out of
// the cache.
#include "headrace/storage/local/file_output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/direct.h"
#include "headrace/storage/local/local_file.h"
#include "headrace/storage/local/local_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/store_conformance.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::local {
namespace {

using testing::TemporaryFolder;

const bool kRegistered = testing::register_store_conformance(
    {.name = "local written past the page cache",
     .make = [](const Context& context) -> testing::StoreWorld::Made {
       auto folder = std::make_shared<TemporaryFolder>();
       return {folder, make_local_store(folder->string(), context, {.direct_writes_after = 0})};
     },
     .any_slashes = false,
     .folder_markers = false,
     .key_beside_folder = false});

class FileOutputTest : public ::testing::Test {
 protected:
  UniqueFd open(const std::string& path) {
    return UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  }
  /// The text in pieces of `piece` bytes; what the file holds then.
  std::string written(const std::string& text, std::size_t piece, std::uint64_t direct_after) {
    const std::string path = (folder_.path() / "file").string();
    const UniqueFd fd = open(path);
    FileOutput output(fd.get(), direct_after);
    for (std::size_t at = 0; at < text.size(); at += piece) {
      const auto part = std::string_view(text).substr(at, piece);
      EXPECT_TRUE(output.append(as_byte_span(part)).ok());
    }
    EXPECT_TRUE(output.flush().ok());
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TemporaryFolder folder_;
};

TEST_F(FileOutputTest, AnyPiecesGiveTheSameFile) {
  const std::string text = testing::pattern(3, (std::size_t{9} << 20U) + 777);
  for (const std::uint64_t direct_after : {0U, 1U, 4096U, 5'000'000U, 50'000'000U}) {
    for (const std::size_t piece : {4096U, 65'537U, 1'400'000U, 20'000'000U})
      EXPECT_TRUE(written(text, piece, direct_after) == text) << direct_after << " " << piece;
  }
  EXPECT_TRUE(written(text.substr(0, 9000), 7, 4000) == text.substr(0, 9000));
}

TEST_F(FileOutputTest, LengthsAroundABlockAndAPieceAreExact) {
  for (const std::size_t around : {std::size_t{4096}, std::size_t{4} << 20U}) {
    for (const std::size_t length : {around - 1, around, around + 1, 2 * around})
      EXPECT_EQ(written(std::string(length, 'x'), 100'000, 0).size(), length);
  }
  EXPECT_EQ(written("", 1, 0), "");
}

TEST_F(FileOutputTest, SpaceThatWasReservedAheadIsGivenBack) {
  const UniqueFd fd = open((folder_.path() / "file").string());
  FileOutput output(fd.get(), 0);
  const std::string text = testing::pattern(4, (std::size_t{13} << 20U) + 123);
  ASSERT_TRUE(output.append(as_byte_span(text)).ok());
  ASSERT_TRUE(output.flush().ok());
  struct stat status {};
  ASSERT_EQ(::fstat(fd.get(), &status), 0);
  EXPECT_EQ(static_cast<std::size_t>(status.st_size), text.size());
  EXPECT_LE(static_cast<std::size_t>(status.st_blocks) * 512, text.size() + (1U << 20U));
}

TEST_F(FileOutputTest, TheCacheIsLeftToOthers) {
  const UniqueFd fd = open((folder_.path() / "file").string());
  if (!set_direct(fd.get(), true)) GTEST_SKIP() << "no O_DIRECT here";
  set_direct(fd.get(), false);
  FileOutput output(fd.get(), 1U << 20U);
  const std::string text(std::size_t{10} << 20U, 'y');
  ASSERT_TRUE(output.append(as_byte_span(text)).ok());
  ASSERT_TRUE(output.flush().ok());
  EXPECT_TRUE(in_page_cache(fd.get(), {0, 4096}));
  EXPECT_FALSE(in_page_cache(fd.get(), {2U << 20U, 4096}));
}

TEST_F(FileOutputTest, AFileSystemWithoutItIsWrittenToAsEver) {
  const std::string path = "/dev/shm/headrace-file-output-" + std::to_string(::getpid());
  const UniqueFd fd = open(path);
  if (!fd.valid()) GTEST_SKIP() << "no /dev/shm";
  ::unlink(path.c_str());
  FileOutput output(fd.get(), 0);
  const std::string text = testing::pattern(5, 6'000'001);
  ASSERT_TRUE(output.append(as_byte_span(text)).ok());
  ASSERT_TRUE(output.flush().ok());
  std::string back(text.size() + 1, '\0');
  const auto got = read_some(fd.get(), std::as_writable_bytes(std::span(back)), 0, {});
  ASSERT_TRUE(got.ok());
  back.resize(*got);
  EXPECT_TRUE(back == text);
}

TEST_F(FileOutputTest, AFullDiskIsSaidAtTheWriteThatFoundIt) {
  const UniqueFd fd(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_TRUE(fd.valid());
  FileOutput output(fd.get(), 0);
  const std::string text(std::size_t{9} << 20U, 'z');
  auto done = output.append(as_byte_span(text));
  if (done.ok()) done = output.flush();
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::exhausted);
}

}  // namespace
}  // namespace headrace::local
