// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/writable.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "headrace/base/printable.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

TEST(CanWrite, IsAskedOfTheNearestFolderThatIsThere) {
  std::string name = "/tmp/headrace-writable-XXXXXX";
  const fs::path root = mkdtemp(name.data());
  std::ofstream(root / "file") << "x";
  EXPECT_TRUE(check_can_write(root / "new"));
  EXPECT_TRUE(check_can_write(root / "a/b/new"));
  EXPECT_TRUE(check_can_write(root / "file"));
  EXPECT_FALSE(fs::exists(root / "a")) << "nothing is made";
  EXPECT_EQ(check_can_write(root).error().code(), Code::invalid);
  EXPECT_EQ(check_can_write(root / "file/new").error().code(), Code::not_found);
  if (::geteuid() != 0) {
    fs::permissions(root, fs::perms::owner_read | fs::perms::owner_exec);
    EXPECT_EQ(check_can_write(root / "new").error().code(), Code::denied);
    fs::permissions(root, fs::perms::owner_all);
  }
  fs::remove_all(root);
}

TEST(Printable, HasNoControlCharacters) {
  EXPECT_EQ(printable("cat/ünï 1.jpg"), "cat/ünï 1.jpg");
  EXPECT_EQ(printable("a\nb\tc\x1b[2J\x7f"), "a\\nb\\tc\\x1b[2J\\x7f");
  EXPECT_EQ(printable("a\xc2\x9b"
                      "2J\xc2\xa0"),
            "a\\xc2\\x9b2J\xc2\xa0");
  EXPECT_EQ(printable("\xff"), "\xff");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace headrace
