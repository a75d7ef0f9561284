// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/local_disk.h"

#include <gtest/gtest.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "headrace/storage/keep/late_disk.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::keep {
namespace {

using headrace::testing::TemporaryFolder;

TEST(LocalDisk, KnowsFileSystemsWhoseDiskIsElsewhere) {
  for (const long type : {0x6969L, 0xfe534d42L, 0xff534d42L, 0x0bd00bd0L})
    EXPECT_TRUE(is_network_file_system(type)) << type;
  for (const long type :
       {0xef53L, 0x58465342L, 0x01021994L, 0x794c7630L})  // ext4, XFS, tmpfs, overlay
    EXPECT_FALSE(is_network_file_system(type)) << type;
  // On some machines the type is an int, and comes with its sign extended.
  EXPECT_TRUE(is_network_file_system(static_cast<int>(0xff534d42)));
}

TEST(LocalDisk, AFolderOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to give a folder away";
  const TemporaryFolder folder;
  const auto dir = folder.string() + "/theirs";
  ASSERT_TRUE(open_local_disk(dir));
  ASSERT_EQ(::chown(dir.c_str(), 65534, 65534), 0);
  const auto refused = open_local_disk(dir);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::denied);
}

TEST(LocalDisk, OneThatOpensInTimeIsTheSame) {
  const TemporaryFolder folder;
  const auto opened = open_local_disk_within(folder.string() + "/k", std::chrono::seconds(60), {});
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->disk->list());
  const auto refused = open_local_disk_within("/proc/nothing/here", std::chrono::seconds(60), {});
  EXPECT_FALSE(refused) << "and what cannot be opened is refused";
}

TEST(LocalDisk, OneThatIsNotThereYetFailsUntilItIs) {
  const TemporaryFolder folder;
  const auto opened = open_local_disk_within(folder.string() + "/k", std::chrono::seconds(0), {});
  ASSERT_TRUE(opened);
  while (true) {
    const auto listed = opened->disk->list();
    if (listed) break;
    ASSERT_EQ(listed.error().code(), Code::unavailable) << listed.error().to_string();
    ::usleep(1000);
  }
  EXPECT_TRUE(opened->disk->space());
}

}  // namespace
}  // namespace headrace::keep
