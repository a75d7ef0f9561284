// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/convert/local_destination.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::converting {
namespace {

namespace fs = std::filesystem;
using headrace::testing::TemporaryFolder;
using ::testing::HasSubstr;

class Destination : public ::testing::Test {
 protected:
  Result<LocalDestination> take(std::uint64_t part = 0, const std::string& key = "set") const {
    return LocalDestination::take(out().string(), key, part);
  }
  fs::path out() const { return folder_.path() / "new" / "out"; }
  fs::path lock() const { return out() / ".headrace/convert/set.lock"; }

  TemporaryFolder folder_;
};

TEST_F(Destination, OfOneSetIsOneProcesssAtATime) {
  {
    const auto first = take();
    ASSERT_TRUE(first.ok());
    const auto second = take();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.error().code(), Code::invalid);
    EXPECT_THAT(second.error().to_string(), HasSubstr("another process is writing"));
    EXPECT_THAT(second.error().to_string(), HasSubstr(out().string()));
    EXPECT_FALSE(take(1).ok()) << "a part of the same set";
    EXPECT_TRUE(take(0, "other").ok()) << "another set in the folder is nobody's business";
  }
  EXPECT_TRUE(take().ok());
}

TEST_F(Destination, IsSharedByParts) {
  auto first = take(1);
  const auto second = take(2);
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(second.ok());
  EXPECT_FALSE(take(2).ok()) << "twice the same";
  EXPECT_FALSE(take().ok()) << "closing it, or all of it";
  { const LocalDestination ended = *std::move(first); }
  EXPECT_TRUE(fs::exists(lock())) << "the second has it still";
  EXPECT_FALSE(take(2).ok());
  EXPECT_TRUE(take(1).ok());
}

TEST_F(Destination, LeftByAKilledProcessIsInNobodysWay) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto held = take();
    const char done = held.ok() ? 'y' : 'n';
    if (::write(ready[1], &done, 1) == 1) ::pause();
    ::_exit(0);
  }
  char done = 0;
  ASSERT_EQ(::read(ready[0], &done, 1), 1);
  EXPECT_EQ(done, 'y');
  EXPECT_FALSE(take().ok());
  ::kill(child, SIGKILL);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_TRUE(fs::exists(lock())) << "nobody could take it away";
  EXPECT_TRUE(take().ok());
  EXPECT_FALSE(fs::exists(lock()));
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST_F(Destination, LeavesNoEmptyFolderThatItMade) {
  { ASSERT_TRUE(take().ok()); }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  fs::create_directory(folder_.path() / "new");
  { ASSERT_TRUE(take().ok()); }
  EXPECT_TRUE(fs::exists(folder_.path() / "new")) << "the user's own";
  EXPECT_FALSE(fs::exists(out()));
  {
    auto taken = take();
    taken->keep();
  }
  EXPECT_TRUE(fs::is_empty(out()));
  {
    const auto taken = take();
    std::ofstream(out() / "set.rec") << "x";
  }
  EXPECT_TRUE(fs::exists(out() / "set.rec"));
  EXPECT_FALSE(fs::exists(out() / ".headrace"));
}

TEST_F(Destination, ThatCannotBeMadeIsNotLocked) {
  std::ofstream(folder_.path() / "new") << "a file";
  EXPECT_TRUE(take().ok()) << "what is written there says what is wrong";
  EXPECT_TRUE(take().ok());
}

TEST_F(Destination, ThatIsFullIsNamedWithWhatIsNeeded) {
  const auto taken = take();
  const Error full = taken->explain(errno_error(ENOSPC, "write"), 5'000'000'000);
  EXPECT_EQ(full.code(), Code::exhausted);
  EXPECT_THAT(full.to_string(), HasSubstr("the volume at /"));
  EXPECT_THAT(full.to_string(), HasSubstr("needs about 5.0 GB"));
  EXPECT_THAT(full.remedy(), HasSubstr("free space"));
  const Error other = taken->explain(Error(Code::denied, "no"), 1);
  EXPECT_EQ(other.to_string(), "no");
}

}  // namespace
}  // namespace headrace::converting
