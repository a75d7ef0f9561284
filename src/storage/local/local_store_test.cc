// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/local/local_store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/fsuid.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/local/local_file.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/store_conformance.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::TemporaryFolder;
using ::testing::UnorderedElementsAre;

const bool kRegistered = testing::register_store_conformance(
    {.name = "local",
     .make = [](const Context& context) -> testing::StoreWorld::Made {
       auto folder = std::make_shared<TemporaryFolder>();
       return {folder, make_local_store(folder->string(), context, {.durable = false})};
     },
     .any_slashes = false,
     .folder_markers = false,
     .key_beside_folder = false});

class LocalStore : public ::testing::Test {
 protected:
  void write(const std::string& key, const std::string& text) {
    fs::create_directories((folder_.path() / key).parent_path());
    std::ofstream(folder_.path() / key, std::ios::binary) << text;
  }
  std::set<std::string> keys(const std::string& prefix = "") {
    const auto listed = list_all(*store_, prefix, {});
    EXPECT_TRUE(listed.ok()) << listed.error().to_string();
    std::set<std::string> found;
    if (listed.ok()) {
      for (const auto& object : *listed) found.insert(object.key);
    }
    return found;
  }
  bool noticed(const std::string& kind) {
    for (const auto& notice : context_.notices->all()) {
      if (notice.kind == kind) return true;
    }
    return false;
  }

  TemporaryFolder folder_;
  Context context_;
  std::unique_ptr<Store> store_ = make_local_store(folder_.string(), context_);
};

TEST_F(LocalStore, PinIsTimeAndSizeAndIsNoReasonForANotice) {
  ASSERT_TRUE(kRegistered);
  write("a", "hello");
  const auto info = store_->head("a", {});
  ASSERT_TRUE(info.ok());
  EXPECT_TRUE(info->pin.etag.empty());
  EXPECT_NE(info->pin.modified_ns, 0);
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_THAT(context_.notices->all(), IsEmpty());
}

TEST_F(LocalStore, AFolderGoesWithItsLastObjectButNeverTheRoot) {
  write("a/b/1", "one");
  write("a/2", "two");
  ASSERT_TRUE(store_->remove("a/b/1", {}));
  EXPECT_FALSE(fs::exists(folder_.path() / "a/b"));
  EXPECT_TRUE(fs::exists(folder_.path() / "a/2"));
  ASSERT_TRUE(store_->remove("a/2", {}));
  EXPECT_FALSE(fs::exists(folder_.path() / "a"));
  EXPECT_TRUE(fs::exists(folder_.path()));
}

TEST_F(LocalStore, AProcessThatIsKilledWhileItWritesLeavesNothing) {
  const UniqueFd probe(::open(folder_.string().c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
  if (!probe.valid()) GTEST_SKIP() << "this file system has no files without a name";
  const auto child = ::fork();
  if (child == 0) {
    auto writer = store_->create("a/1", {});
    if (writer && (*writer)->append(as_byte_span("some")).ok()) ::raise(SIGKILL);
    ::_exit(1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(fs::is_empty(folder_.path() / "a"));
}

TEST_F(LocalStore, AFileOfTheSameSizeWithAnotherTimeIsChanged) {
  write("a", "hello");
  const auto info = store_->head("a", {});
  ASSERT_TRUE(info.ok());
  const timespec later[2] = {{1'000'000'000, 0}, {1'000'000'000, 1}};
  ASSERT_EQ(::utimensat(AT_FDCWD, (folder_.path() / "a").c_str(), &later[0], 0), 0);
  const auto read = read_now(*store_, {.key = "a", .pin = info->pin});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::changed);
}

TEST_F(LocalStore, KeysThatLeaveTheRootOrHaveTwoNamesAreInvalid) {
  write("dir/a", "x");
  for (const std::string key :
       {"../x", "dir/../dir/a", "dir//a", "/dir/a", "./dir/a", "dir/a/", "", "..", "dir/."}) {
    const auto read = read_now(*store_, {.key = key});
    ASSERT_FALSE(read.ok()) << key;
    EXPECT_EQ(read.error().code(), Code::invalid) << read.error().to_string();
    EXPECT_EQ(store_->head(key, {}).error().code(), Code::invalid) << key;
    EXPECT_EQ(store_->create(key, {}).error().code(), Code::invalid) << key;
    EXPECT_EQ(store_->remove(key, {}).error().code(), Code::invalid) << key;
  }
  EXPECT_THAT(keys("../"), IsEmpty());
  EXPECT_THAT(keys("dir//"), IsEmpty());
}

TEST_F(LocalStore, AFolderIsNotAnObject) {
  write("dir/a", "x");
  EXPECT_EQ(store_->head("dir", {}).error().code(), Code::not_found);
  EXPECT_EQ(read_now(*store_, {.key = "dir"}).error().code(), Code::not_found);
  EXPECT_EQ(read_now(*store_, {.key = "dir/a/b"}).error().code(), Code::not_found);
}

TEST_F(LocalStore, LinksAreFollowedAndLoopsEnd) {
  write("real/a", "x");
  write("b/c", "y");
  fs::create_directory_symlink(folder_.path() / "real", folder_.path() / "linked");
  fs::create_symlink(folder_.path() / "real/a", folder_.path() / "file-link");
  fs::create_directory_symlink("..", folder_.path() / "b/up");
  fs::create_directory_symlink("self", folder_.path() / "self");
  fs::create_symlink("nowhere", folder_.path() / "dangling");
  EXPECT_THAT(keys(), UnorderedElementsAre("real/a", "linked/a", "file-link", "b/c"));
  EXPECT_TRUE(noticed("link-loop"));
  EXPECT_TRUE(noticed("dangling-link"));
}

TEST_F(LocalStore, WhatIsNoRegularFileIsLeftOutAndNeverHolds) {
  write("a", "x");
  ASSERT_EQ(::mkfifo((folder_.path() / "fifo").c_str(), 0600), 0);
  EXPECT_THAT(keys(), UnorderedElementsAre("a"));
  EXPECT_EQ(read_now(*store_, {.key = "fifo"}).error().code(), Code::invalid);
}

TEST_F(LocalStore, AFolderThatCannotBeReadIsDeniedByName) {
  write("closed/a", "x");
  fs::permissions(folder_.path() / "closed", fs::perms::none);
  fs::permissions(folder_.path(), fs::perms::all);
  constexpr uid_t kNobody = 65534;
  // The superuser reads every folder: this thread becomes nobody for one call.
  const auto before = ::geteuid();
  if (before == 0) ::setfsuid(kNobody);
  const auto listed = list_all(*store_, "", {});
  if (before == 0) ::setfsuid(before);
  fs::permissions(folder_.path() / "closed", fs::perms::all);
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::denied);
  EXPECT_THAT(listed.error().place(), HasSubstr("closed"));
}

TEST_F(LocalStore, AMissingRootIsNotFoundUntilItIsWritten) {
  const auto store = make_local_store(folder_.string() + "/new/deep", context_);
  const auto listed = list_all(*store, "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::not_found);
  ASSERT_TRUE(put(*store, "x/y", as_byte_span("z"), {}).ok());
  EXPECT_THAT(keys(), UnorderedElementsAre("new/deep/x/y"));
}

TEST_F(LocalStore, HalfWrittenFilesAreNeitherListedNorLeftBehind) {
  {
    auto writer = store_->create("dir/a", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE((*writer)->append(as_byte_span("half")).ok());
    EXPECT_THAT(keys(), IsEmpty());
  }
  EXPECT_TRUE(fs::is_empty(folder_.path() / "dir"));
}

TEST_F(LocalStore, AFullDiskIsExhausted) {
  // A limit on the size of files stands in for a full disk: the same write fails half-way.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{1000, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto result = put(*store_, "a", as_byte_span(testing::pattern(1, 5000)), {});
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::signal(SIGXFSZ, handler);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code(), Code::exhausted);
  EXPECT_THAT(keys(), IsEmpty());
}

TEST_F(LocalStore, EveryFileNameTheSystemAllowsIsListedAndRead) {
  const std::set<std::string> names = {
      "plain.jpg", "\xff\xfe.jpg", "lat\xe9in1.jpg", "new\nline.jpg", "tab\t.jpg",
      "-dash.jpg", " space .jpg",  ".hidden.jpg",    "._mac.jpg",     std::string(255, 'c'),
      "a\\b.jpg",  "noext",        "x.jpg.part",     "percent%41.jpg"};
  for (const auto& name : names) write("class/" + name, name);
  std::set<std::string> wanted;
  for (const auto& name : names) wanted.insert("class/" + name);
  EXPECT_EQ(keys(), wanted);
  for (const auto& name : names) {
    const auto read = read_now(*store_, {.key = "class/" + name});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_EQ(read->bytes.text(), name);
  }
}

TEST_F(LocalStore, PagesAreBounded) {
  for (int i = 0; i < 2500; ++i) write("d/" + std::to_string(i), "");
  std::size_t largest = 0;
  std::size_t total = 0;
  ASSERT_TRUE(store_
                  ->list({}, {},
                         [&](ListPage&& page) -> Result<bool> {
                           largest = std::max(largest, page.objects.size());
                           total += page.objects.size();
                           return true;
                         })
                  .ok());
  EXPECT_EQ(total, 2500U);
  EXPECT_LE(largest, 1000U);
}

TEST_F(LocalStore, AFileThatALazyMountCannotLoadIsExplained) {
  EXPECT_EQ(local::read_error(ENODATA).code(), Code::denied);
  EXPECT_THAT(local::read_error(ENODATA).to_string(), HasSubstr("kms:Decrypt"));
  EXPECT_EQ(local::read_error(EIO).code(), errno_error(EIO, "read").code());
}

TEST_F(LocalStore, ReadsAreCounted) {
  write("a", "0123456789");
  ASSERT_TRUE(read_now(*store_, {.key = "a", .range = {2, 5}}).ok());
  EXPECT_EQ(context_.metrics->get(Metric::bytes_origin), 5U);
  EXPECT_EQ(context_.metrics->get(Metric::requests), 1U);
}

}  // namespace
}  // namespace headrace
