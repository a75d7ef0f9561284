// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/quota.h"

#include <fcntl.h>
#include <gtest/gtest.h>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::local {
namespace {

using headrace::testing::TemporaryFolder;

TEST(Quota, LeavesWhatItsHardLimitLeaves) {
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  EXPECT_EQ(quota_left(0, 5), kNone) << "no limit";
  EXPECT_EQ(quota_left(10, 0), 10'240U);
  EXPECT_EQ(quota_left(10, 10'000), 240U);
  EXPECT_EQ(quota_left(10, 10'241), 0U) << "beyond it";
  EXPECT_EQ(quota_left(kNone, 0), kNone);
}

TEST(Quota, IsAskedForWithoutHarmWhereThereIsNone) {
  const TemporaryFolder folder;
  const UniqueFd fd(::open(folder.string().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_GT(quota_left(fd.get()), 0U);
  EXPECT_EQ(quota_left(-1), ~std::uint64_t{0});
  struct statvfs space {};
  space.f_bavail = 3;
  space.f_frsize = 512;
  EXPECT_EQ(writable_bytes(space, -1), 1536U) << "what the volume has, where there is no quota";
}

}  // namespace
}  // namespace headrace::local
