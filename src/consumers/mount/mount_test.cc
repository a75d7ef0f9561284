// SPDX-License-Identifier: Apache-2.0
// On the real kernel, with stores in memory; skipped where /dev/fuse is missing. What needs whole
// processes (signals, kill -9, fusermount3, S3) is in tests/story/test_mount.py.
#include "headrace/consumers/mount/mount.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <thread>

#include "headrace/base/random.h"
#include "headrace/base/unique_fd.h"
#include "headrace/consumers/mount/mount_point.h"
#include "headrace/storage/local/local_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"
#include "headrace/storage/testing/slow_store.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::mount {
namespace {

namespace fs = std::filesystem;
using headrace::testing::Call;
using headrace::testing::FailingStore;
using headrace::testing::Fault;
using headrace::testing::SlowStore;
using headrace::testing::TemporaryFolder;
using ::testing::ElementsAre;

std::string pattern(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(random.next());
  return text;
}

class MountTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = obstacle(); !why.empty()) GTEST_SKIP() << why;
  }
  void TearDown() override { unmount_it(); }

  std::string add(const std::string& key, std::size_t size) {
    std::string text = pattern(size, size + key.size());
    EXPECT_TRUE(put(store_, key, as_byte_span(text), {}).ok());
    return text;
  }
  void mount_it(Store& store, MountOptions options = {}) {
    std::atomic<bool> ready = false;
    options.on_ready = [&ready] {
      ready = true;
      ready.notify_all();
    };
    options.on_error = [this](int number, const Error&) { last_error_ = number; };
    auto made = Mount::make(store, {Scheme::memory, "", ""}, folder(), options, context_, {});
    ASSERT_TRUE(made.ok()) << made.error().to_string();
    mount_ = *std::move(made);
    server_ =
        std::jthread([this](const std::stop_token& stop) { served_ = mount_->serve(stop).ok(); });
    ready.wait(false);
  }
  void unmount_it() {
    if (mount_ == nullptr) return;
    server_.request_stop();
    server_.join();
    mount_.reset();
  }
  std::string folder() const { return folder_.string(); }
  std::string path(const std::string& name) const { return folder() + "/" + name; }

  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file.is_open()) << path;
    return {std::istreambuf_iterator<char>(file), {}};
  }
  /// What reading a file's first bytes says; 0 if it works.
  static int read_errno(const std::string& path) {
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd.valid()) return errno;
    char byte = 0;
    return ::pread(fd.get(), &byte, 1, 0) < 0 ? errno : 0;
  }

  TemporaryFolder folder_;
  MemoryStore store_;
  Context context_;
  std::unique_ptr<Mount> mount_;
  std::jthread server_;
  std::atomic<bool> served_ = false;
  std::atomic<int> last_error_ = 0;
};

// Promise F1: Every byte of every file of a mount is that of its object.
TEST_F(MountTest, BytesAreThoseOfTheObjects) {
  const std::string small = add("pictures/a.jpg", 110'000);
  const std::string large = add("large.rec", 20'000'003);
  add("empty", 0);
  mount_it(store_);
  EXPECT_EQ(content(path("pictures/a.jpg")), small);
  EXPECT_EQ(content(path("large.rec")), large);
  EXPECT_EQ(content(path("empty")), "");
  const UniqueFd fd(::open(path("large.rec").c_str(), O_RDONLY | O_CLOEXEC));
  Random random(1);
  std::string got(100'000, '\0');
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t offset = random.below(large.size() - got.size());
    ASSERT_EQ(::pread(fd.get(), got.data(), got.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(got.size()));
    ASSERT_EQ(got, large.substr(offset, got.size()));
  }
  EXPECT_EQ(::pread(fd.get(), got.data(), got.size(), 20'000'000), 3);
}

TEST_F(MountTest, StatTellsWhatIsKnown) {
  add("a/1.jpg", 1000);
  MountOptions options;
  options.uid = 1234;
  options.gid = 4321;
  options.umask = 0027;
  mount_it(store_, options);
  struct stat file {
  }, there{};
  ASSERT_EQ(::stat(path("a/1.jpg").c_str(), &file), 0);
  ASSERT_EQ(::stat(path("a").c_str(), &there), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFREG | 0440));
  EXPECT_EQ(there.st_mode, static_cast<mode_t>(S_IFDIR | 0550));
  EXPECT_EQ(file.st_size, 1000);
  EXPECT_EQ(file.st_blocks, 2);
  EXPECT_EQ(file.st_nlink, 1U);
  EXPECT_EQ(file.st_uid, 1234U);
  EXPECT_EQ(file.st_gid, 4321U);
  EXPECT_NE(file.st_ino, there.st_ino);
  struct statvfs whole {};
  ASSERT_EQ(::statvfs(folder().c_str(), &whole), 0);
  EXPECT_NE(whole.f_flag & ST_RDONLY, 0U);
  EXPECT_EQ(whole.f_namemax, 255U);
}

TEST_F(MountTest, AFilesTimeIsThatOfItsObject) {
  const TemporaryFolder source;
  std::ofstream(source.path() / "x") << "content";
  const auto when = fs::last_write_time(source.path() / "x");
  const auto local = make_local_store(source.string(), context_);
  mount_it(*local);
  EXPECT_EQ(fs::last_write_time(path("x")), when);
  EXPECT_EQ(content(path("x")), "content");
}

TEST_F(MountTest, AFolderOfTenThousandIsReadWhole) {
  constexpr int kFiles = 10'000;
  for (int i = 0; i < kFiles; ++i) add(fmt::format("d/{:05}", i), 1);
  mount_it(store_);
  std::set<std::string> names;
  std::set<ino_t> inodes;
  DIR* dir = ::opendir(path("d").c_str());
  ASSERT_NE(dir, nullptr);
  std::string last;
  long middle = 0;
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = &entry->d_name[0];
    if (name == "." || name == "..") continue;
    EXPECT_LT(last, name) << "in the order of bytes";
    names.insert(last = name);
    inodes.insert(entry->d_ino);
    if (name == "04999") middle = ::telldir(dir);
  }
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kFiles));
  EXPECT_EQ(inodes.size(), static_cast<std::size_t>(kFiles));
  ::seekdir(dir, middle);
  EXPECT_STREQ(&::readdir(dir)->d_name[0], "05000");
  ::closedir(dir);
  struct stat status {};
  ASSERT_EQ(::stat(path("d/00777").c_str(), &status), 0);
  EXPECT_EQ(inodes.count(status.st_ino), 1U) << "readdir and stat give one number";
}

// Promise F5: Every attempt to write is "Read-only file system", and nothing is written.
TEST_F(MountTest, EveryAttemptToWriteIsReadOnly) {
  add("a/1.jpg", 1000);
  mount_it(store_);
  const auto error_of = [](int result) { return result < 0 ? errno : 0; };
  EXPECT_EQ(error_of(::open(path("a/1.jpg").c_str(), O_RDWR)), EROFS);
  EXPECT_EQ(error_of(::open(path("new").c_str(), O_WRONLY | O_CREAT, 0600)), EROFS);
  EXPECT_EQ(error_of(::unlink(path("a/1.jpg").c_str())), EROFS);
  EXPECT_EQ(error_of(::mkdir(path("d").c_str(), 0700)), EROFS);
  EXPECT_EQ(error_of(::rmdir(path("a").c_str())), EROFS);
  EXPECT_EQ(error_of(::rename(path("a").c_str(), path("b").c_str())), EROFS);
  EXPECT_EQ(error_of(::truncate(path("a/1.jpg").c_str(), 0)), EROFS);
  EXPECT_EQ(error_of(::chmod(path("a/1.jpg").c_str(), 0600)), EROFS);
  EXPECT_EQ(error_of(::symlink("a", path("b").c_str())), EROFS);
  EXPECT_EQ(error_of(::access(path("a/1.jpg").c_str(), W_OK)), EROFS);
  EXPECT_EQ(error_of(::access(path("a/1.jpg").c_str(), R_OK)), 0);
}

// Promise F2: A store that is overloaded or gone is "Input/output error", never "No such file".
TEST_F(MountTest, AnErrorHasItsErrno) {
  add("x", 1000);
  std::atomic<Code> code = Code::unavailable;
  std::atomic<Call::Kind> kind = Call::Kind::read;
  FailingStore failing(store_, [&](const Call& call) -> std::optional<Fault> {
    if (call.kind != kind) return std::nullopt;
    return Fault{.code = code};
  });
  add("d/y", 10);
  mount_it(failing);
  EXPECT_EQ(read_errno(path("x")), EIO);
  EXPECT_EQ(last_error_, EIO);
  const std::vector<std::pair<Code, int>> table{{Code::denied, EACCES},
                                                {Code::changed, ESTALE},
                                                {Code::not_found, ENOENT},
                                                {Code::exhausted, ENOMEM}};
  for (const auto& [given, seen] : table) {
    code = given;
    EXPECT_EQ(read_errno(path("x")), seen) << to_string(given);
  }
  code = Code::unavailable;
  kind = Call::Kind::list;
  EXPECT_EQ(read_errno(path("d/y")), EIO) << "its folder cannot be listed: not \"no such file\"";
  kind = Call::Kind::head;
  EXPECT_EQ(read_errno(path("d/y")), 0) << "and it is tried again";
  EXPECT_EQ(read_errno(path("x")), 0);
  EXPECT_EQ(read_errno(path("none")), ENOENT);
  EXPECT_EQ(read_errno(path(std::string(300, 'n'))), ENAMETOOLONG);
}

TEST_F(MountTest, AReplacedObjectIsStaleNeverAMixture) {
  const std::string before = add("x", 3'000'000);
  mount_it(store_);
  const UniqueFd fd(::open(path("x").c_str(), O_RDONLY | O_CLOEXEC));
  std::string got(4096, '\0');
  ASSERT_EQ(::pread(fd.get(), got.data(), got.size(), 2'000'000), 4096);
  EXPECT_EQ(got, before.substr(2'000'000, 4096));
  add("x", 3'000'001);
  EXPECT_EQ(::pread(fd.get(), got.data(), got.size(), 0), -1);
  EXPECT_EQ(errno, ESTALE);
}

TEST_F(MountTest, ManyReadersAtOnce) {
  std::vector<std::string> texts;
  for (int i = 0; i < 64; ++i) {
    texts.push_back(add(std::to_string(i), 50'000 + static_cast<std::size_t>(i) * 40'000));
  }
  MountOptions options;
  options.reader.budget_bytes = 8 << 20;
  mount_it(store_, options);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> readers;
    for (std::size_t r = 0; r < 16; ++r) {
      readers.emplace_back([&, r] {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          const std::size_t at = (i * 7 + r * 5) % texts.size();
          if (content(path(std::to_string(at))) != texts[at]) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  const MountStats stats = mount_->stats();
  EXPECT_GT(stats.reads, 0U);
  EXPECT_EQ(stats.errors, 0U);
  EXPECT_EQ(stats.nodes, 65U);
}

TEST_F(MountTest, WhatWasReadIsTheKernels) {
  const std::string text = add("x", 500'000);
  FailingStore counting(store_, [](const Call&) { return std::nullopt; });
  mount_it(counting);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(content(path("x")), text);
  EXPECT_EQ(counting.calls(Call::Kind::read), 1U);
  EXPECT_EQ(counting.calls(Call::Kind::head), 0U);
}

TEST_F(MountTest, ItEndsWhileItIsRead) {
  add("x", 5'000'000);
  SlowStore slow(store_, real_clock(), std::chrono::milliseconds(300));
  mount_it(slow);
  const UniqueFd fd(::open(path("x").c_str(), O_RDONLY | O_CLOEXEC));
  std::atomic<int> got = 0;
  std::jthread reader([&] {
    char byte = 0;
    got = ::pread(fd.get(), &byte, 1, 1'000'000) < 0 ? errno : 0;
  });
  while (mount_->stats().reads < 1) std::this_thread::yield();
  server_.request_stop();
  server_.join();
  EXPECT_TRUE(served_);
  // The reads that were in flight are answered; the mount goes before the store does.
  std::jthread closer([this] { mount_.reset(); });
  reader.join();
  EXPECT_NE(got, ENOENT);
}

TEST_F(MountTest, AFolderThatCannotBeCoveredIsExplained) {
  add("x", 10);
  const auto refused = [&](const std::string& place, const Uri& source) {
    const auto made = Mount::make(store_, source, place, {}, context_, {});
    return made.ok() ? std::string("mounted") : made.error().to_string();
  };
  const Uri memory{Scheme::memory, "", ""};
  EXPECT_THAT(refused(path("missing"), memory), ::testing::HasSubstr("mkdir -p"));
  std::ofstream(path("file")) << "x";
  EXPECT_THAT(refused(path("file"), memory), ::testing::HasSubstr("not a folder"));
  EXPECT_THAT(refused(folder(), memory), ::testing::HasSubstr("not empty"));
  EXPECT_THAT(refused(folder(), {Scheme::local, "", folder()}),
              ::testing::HasSubstr("lies in the source"));
  fs::remove(path("file"));
  mount_it(store_);
  EXPECT_THAT(refused(folder(), memory), ::testing::HasSubstr("--unmount"));
  EXPECT_FALSE(unmount(path("..")).ok());
}

TEST_F(MountTest, SomebodyElsesUnmountEndsIt) {
  add("x", 10);
  mount_it(store_);
  EXPECT_EQ(content(path("x")).size(), 10U);
  ASSERT_TRUE(unmount(folder()).ok());
  server_.join();
  EXPECT_TRUE(served_);
  mount_.reset();
  EXPECT_TRUE(fs::is_empty(folder()));
}

}  // namespace
}  // namespace headrace::mount
