// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/memory_left.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::keep {
namespace {

/// A machine as its files tell.
class MemoryLeft : public ::testing::Test {
 protected:
  MemoryLeft() {
    write("/proc/meminfo", "MemTotal: 9000 kB\nMemFree: 1 kB\nMemAvailable: 1000 kB\n");
  }
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path file = folder_.string() + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::uint64_t left() const { return memory_left(folder_.string()); }

  const headrace::testing::TemporaryFolder folder_;
};

TEST_F(MemoryLeft, IsTheMachinesWithoutAGroup) {
  EXPECT_EQ(left(), 1'024'000U);
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "max\n");
  EXPECT_EQ(left(), 1'024'000U) << "nor with one that has no limit";
}

TEST_F(MemoryLeft, IsWhatTheGroupAllowsLessWhatItHolds) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "500000\n");
  write("/sys/fs/cgroup/memory.current", "200000\n");
  EXPECT_EQ(left(), 300'000U);
  write("/sys/fs/cgroup/memory.current", "600000\n");
  EXPECT_EQ(left(), 0U);
}

TEST_F(MemoryLeft, CountsFilesThatTheGroupCanForget) {
  write("/proc/self/cgroup", "0::/\n");
  write("/sys/fs/cgroup/memory.max", "500000\n");
  write("/sys/fs/cgroup/memory.current", "500000\n");
  write("/sys/fs/cgroup/memory.stat", "anon 1\nfile 450000\ninactive_file 400000\n");
  EXPECT_EQ(left(), 400'000U) << "a job that read much has them full";
}

TEST_F(MemoryLeft, IsTheLeastOfAllGroupsAbove) {
  write("/proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("/sys/fs/cgroup/slurm/job_7/memory.max", "300000\n");
  write("/sys/fs/cgroup/slurm/job_7/memory.current", "100000\n");
  write("/sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(left(), 200'000U);
  write("/sys/fs/cgroup/slurm/memory.max", "50000\n");
  EXPECT_EQ(left(), 50'000U);
}

TEST_F(MemoryLeft, OfAContainerStandsAtTheTop) {
  write("/proc/self/cgroup", "0::/docker/4711\n");  // a path of the host's
  write("/sys/fs/cgroup/memory.max", "70000\n");
  EXPECT_EQ(left(), 70'000U);
}

TEST_F(MemoryLeft, KnowsTheFirstVersion) {
  write("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:hugetlb,memory:/slurm/job_7\n1:name=systemd:/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "400000\n");
  write("/sys/fs/cgroup/memory/slurm/job_7/memory.usage_in_bytes", "390000\n");
  write("/sys/fs/cgroup/memory/slurm/job_7/memory.stat",
        "inactive_file 1\ntotal_inactive_file 90000\n");
  EXPECT_EQ(left(), 100'000U);
}

TEST_F(MemoryLeft, OfThisMachineIsSomething) { EXPECT_GT(memory_left(), 0U); }

}  // namespace
}  // namespace headrace::keep
