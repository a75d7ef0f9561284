// SPDX-License-Identifier: Apache-2.0
#include "headrace/advisor/cold.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <filesystem>
#include <fstream>

#include "headrace/base/unique_fd.h"

namespace headrace::advisor {
namespace {

namespace fs = std::filesystem;

class ColdTest : public testing::Test {
 protected:
  ColdTest() {
    // Not /tmp, which may be memory, where nothing can be dropped.
    std::string name = "/var/tmp/headrace-cold-XXXXXX";
    root_ = mkdtemp(name.data());
    fs::create_directories(root_ / "sub");
    std::ofstream(root_ / "a") << std::string(200000, 'a');
    std::ofstream(root_ / "sub/b") << std::string(5000, 'b');
    std::ofstream(root_ / "sub/empty");
  }
  ~ColdTest() override { fs::remove_all(root_); }

  fs::path root_;
};

TEST_F(ColdTest, FilesThatWereJustWrittenBecomeCold) {
  EXPECT_EQ(make_cold({root_}, {}), Cold::verified);
  EXPECT_EQ(make_cold({root_ / "a", root_ / "sub/b"}, {}), Cold::verified);
}

TEST_F(ColdTest, APageThatSomebodyHoldsIsWarm) {
  const UniqueFd file(open((root_ / "a").c_str(), O_RDONLY | O_CLOEXEC));
  void* map = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file.get(), 0);
  ASSERT_NE(map, MAP_FAILED);
  EXPECT_EQ(*static_cast<const char*>(map), 'a');  // touched: DONTNEED keeps mapped pages
  EXPECT_EQ(make_cold({root_}, {}), Cold::warm);
  munmap(map, 4096);
  EXPECT_EQ(make_cold({root_}, {}), Cold::verified);
}

TEST_F(ColdTest, WhatCannotBeLookedAtIsUnverified) {
  EXPECT_EQ(make_cold({}, {}), Cold::unverified);
  EXPECT_EQ(make_cold({root_ / "missing"}, {}), Cold::unverified);
  EXPECT_EQ(make_cold({root_, root_ / "missing"}, {}), Cold::unverified);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(make_cold({root_}, stop.get_token()), Cold::unverified);
}

TEST_F(ColdTest, LinksOutOfTheFolderAreNotFollowed) {
  fs::create_symlink("/proc/self/mem", root_ / "link");
  EXPECT_EQ(make_cold({root_}, {}), Cold::verified);
}

}  // namespace
}  // namespace headrace::advisor
