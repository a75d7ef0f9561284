// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>

#include <sstream>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::local {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kTmpfs = 0x01021994;

bool is_tmpfs(const char* path) {
  struct statfs status {};
  return ::statfs(path, &status) == 0 && static_cast<std::uint64_t>(status.f_type) == kTmpfs;
}

TEST(Standing, KindsByNumberAndByName) {
  EXPECT_EQ(medium_of(0x0bd00bd0, "lustre"), Medium::lustre);
  EXPECT_EQ(medium_of(0x6969, "nfs4"), Medium::nfs);
  EXPECT_EQ(medium_of(0x65735546, "fuse.mount-s3"), Medium::fuse);
  EXPECT_EQ(medium_of(kTmpfs, "tmpfs"), Medium::memory);
  EXPECT_EQ(medium_of(0x794c7630, "overlay"), Medium::overlay);
  EXPECT_EQ(medium_of(0xff534d42, "cifs"), Medium::other_network);
  EXPECT_EQ(medium_of(0xef53, "ext4"), Medium::local);
}

TEST(Standing, ALineOfMountinfo) {
  MountLine mount;
  ASSERT_TRUE(parse_mount_line(
      "36 35 0:52 / /mnt/my\\040data ro,noatime shared:1 master:2 - nfs4 fs-1.efs:/ rw,vers=4.1",
      mount));
  EXPECT_EQ(mount.major, 0U);
  EXPECT_EQ(mount.minor, 52U);
  EXPECT_EQ(mount.mount_point, "/mnt/my data");
  EXPECT_EQ(mount.type, "nfs4");
  EXPECT_EQ(mount.source, "fs-1.efs:/");
  for (const char* bad : {"", "36 35 98:0 / /mnt rw", "36 35 980 / /mnt rw - ext4 /dev/sda rw",
                          "36 35 x:y / /mnt rw - ext4 /dev/sda rw"}) {
    EXPECT_FALSE(parse_mount_line(bad, mount)) << bad;
  }
}

// A file system may be mounted in several places: the one is named that the path lies in.
TEST(Standing, OfSeveralMountsOfADeviceThePathsOwnIsNamed) {
  const std::string mounts =
      "21 1 0:20 / /dev/shm rw - tmpfs shm rw\n"
      "22 1 0:20 / /srv/dev/shm rw - tmpfs shm rw\n"
      "23 1 0:20 / /dev/sh rw - tmpfs shm rw\n"
      "24 1 0:21 / / rw - ext4 /dev/sda1 rw\n";
  const auto of = [&mounts](unsigned minor, std::string_view path) {
    std::istringstream lines(mounts);
    return mount_of(lines, 0, minor, path).mount_point;
  };
  EXPECT_EQ(of(20, "/dev/shm"), "/dev/shm");
  EXPECT_EQ(of(20, "/dev/shm/a/b"), "/dev/shm");
  EXPECT_EQ(of(20, "/srv/dev/shm/a"), "/srv/dev/shm");
  EXPECT_EQ(of(20, "/dev/sh/a"), "/dev/sh");
  EXPECT_EQ(of(20, "/elsewhere"), "/dev/sh");  // the last, where none is around the path
  EXPECT_EQ(of(21, "/home"), "/");
  EXPECT_EQ(of(22, "/home"), "");
}

TEST(Standing, MemoryIsNamedWithItsMount) {
  if (!is_tmpfs("/dev/shm")) GTEST_SKIP() << "/dev/shm is no tmpfs here";
  const auto found = standing_of("/dev/shm/a/folder/that/does/not/exist");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->medium, Medium::memory);
  EXPECT_EQ(found->type, "tmpfs");
  EXPECT_EQ(found->mount_point, "/dev/shm");
}

// A folder that should have been a mount and is not.
TEST(Standing, AMissingMountIsRefusedAndWhatIsThereNamed) {
  const testing::TemporaryFolder folder;
  for (const char* expected : {"lustre", "nfs", "fuse"}) {
    const auto checked = check_standing(folder.string(), expected);
    ASSERT_FALSE(checked) << expected;
    EXPECT_EQ(checked.error().code(), Code::not_found);
    EXPECT_THAT(checked.error().to_string(), HasSubstr("mount it first"));
    EXPECT_THAT(checked.error().to_string(), HasSubstr("stands on"));
  }
  EXPECT_TRUE(check_standing(folder.string(), "local"));
  EXPECT_EQ(check_standing(folder.string(), "tape").error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace::local
