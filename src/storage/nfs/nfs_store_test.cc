// SPDX-License-Identifier: Apache-2.0
// Against the real server of scripts/nfs-server, which must be root's: skipped elsewhere.
#include "headrace/storage/nfs/nfs_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>

#include "headrace/base/unique_fd.h"
#include "headrace/storage/open_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/server_process.h"
#include "headrace/storage/testing/store_conformance.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::StoreWorld;

/// The server opens files by handle: not every file system has handles (overlays have none), a
/// container may not open them, and the server must see where the file system is mounted.
bool opens_by_handle(const std::string& folder) {
  union {
    file_handle handle;
    std::array<char, sizeof(file_handle) + MAX_HANDLE_SZ> room;
  };
  room = {};
  handle.handle_bytes = MAX_HANDLE_SZ;
  int mount_id = 0;
  if (::name_to_handle_at(AT_FDCWD, folder.c_str(), &handle, &mount_id, 0) != 0) return false;
  const UniqueFd beside(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd opened(::open_by_handle_at(beside.get(), &handle, O_RDONLY | O_CLOEXEC));
  if (opened.get() < 0) return false;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);)
    if (line.starts_with(fmt::format("{} ", mount_id))) return true;
  return false;
}

bool can_serve() {
  const char* const program = std::getenv("HEADRACE_GANESHA");
  return ::geteuid() == 0 &&
         ::access(program != nullptr ? program : "/usr/bin/ganesha.nfsd", X_OK) == 0 &&
         opens_by_handle(::testing::TempDir());
}
constexpr const char* kWhySkipped =
    "nfs-ganesha is missing, or this is not root, or files cannot be opened by handle here";

/// One for all tests of the process.
class Server {
 public:
  static Server& get() {
    static Server server;
    return server;
  }
  const std::string& url() const { return url_; }
  const std::string& folder() const { return folder_; }
  void restart() {
    process_.tell("restart");
    process_.wait_until_ready();
  }
  /// A new folder of the export: its name.
  std::string fresh() const {
    static std::atomic<int> count{0};
    std::string name = fmt::format("t{}", ++count);
    fs::create_directories(folder_ + "/" + name);
    return name;
  }
  Uri uri(const std::string& below) const { return *parse_uri(url_ + "/" + below); }

 private:
  Server() : process_(std::string(HEADRACE_SOURCE_DIR) + "/scripts/nfs-server") {
    auto variables = process_.wait_until_ready();
    url_ = variables["HEADRACE_TEST_NFS"];
    folder_ = variables["HEADRACE_TEST_NFS_FOLDER"];
  }

  testing::ServerProcess process_;
  std::string url_;
  std::string folder_;
};

const bool kRegistered =
    can_serve() && testing::register_store_conformance(
                       {.name = "nfs",
                        .make = [](const Context& context) -> StoreWorld::Made {
                          auto store = open_store(Server::get().uri(Server::get().fresh()), context,
                                                  {.nfs = {.connections = 4}});
                          if (!store) throw std::runtime_error(store.error().to_string());
                          return {nullptr, *std::move(store)};
                        },
                        .any_slashes = false,
                        .folder_markers = false,
                        .key_beside_folder = false});

class NfsStore : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!can_serve()) GTEST_SKIP() << kWhySkipped;
    ASSERT_TRUE(kRegistered);
    name_ = Server::get().fresh();
    folder_ = Server::get().folder() + "/" + name_;
  }
  void write(const std::string& key, const std::string& text) const {
    fs::create_directories(fs::path(folder_ + "/" + key).parent_path());
    std::ofstream(folder_ + "/" + key, std::ios::binary) << text;
  }
  std::unique_ptr<Store> open(const std::string& below = {}, unsigned connections = 2) {
    auto store = open_store(Server::get().uri(name_ + below), context_,
                            {.nfs = {.connections = connections}});
    EXPECT_TRUE(store.ok()) << store.error().to_string();
    return store.ok() ? *std::move(store) : nullptr;
  }
  Error open_error(const std::string& url) {
    const auto store = open_store(*parse_uri(url), context_);
    EXPECT_FALSE(store.ok());
    return store.ok() ? Error(Code::invalid, "none") : store.error();
  }

  Context context_;
  std::string name_;
  std::string folder_;
};

TEST_F(NfsStore, SeveralConnectionsReadAtOnceEachWithItsOwnName) {
  for (unsigned i = 0; i < 64; ++i) write(fmt::format("f{}", i), testing::pattern(i, 50'000));
  const auto store = open({}, 8);
  std::latch ended(64);
  std::atomic<int> right{0};
  for (unsigned i = 0; i < 64; ++i) {
    store->read({.key = fmt::format("f{}", i)}, [&, i](const Result<ReadResult>& read) {
      if (read.ok() && read->bytes.text() == testing::pattern(i, 50'000)) ++right;
      ended.count_down();
    });
  }
  ended.wait();
  EXPECT_EQ(right, 64);
  EXPECT_EQ(context_.metrics->get(Metric::bytes_origin), 64U * 50'000);
}

TEST_F(NfsStore, ALargeFileComesInPieces) {
  const std::string text = testing::pattern(7, 5'000'001);
  write("large", text);
  const auto store = open();
  const auto whole = read_now(*store, {.key = "large"});
  ASSERT_TRUE(whole.ok()) << whole.error().to_string();
  EXPECT_TRUE(whole->bytes.text() == text);
  const auto part = read_now(*store, {.key = "large", .range = {1'048'575, 3'000'003}});
  ASSERT_TRUE(part.ok()) << part.error().to_string();
  EXPECT_TRUE(part->bytes.text() == text.substr(1'048'575, 3'000'003));
}

// The server forgets all of its clients; each connection is lost and made anew.
TEST_F(NfsStore, AServerThatRestartsIsWaitedFor) {
  write("a", "hello");
  const auto store = open();
  const auto before = store->head("a", {});
  ASSERT_TRUE(before.ok());
  ASSERT_TRUE(read_now(*store, {.key = "a", .pin = before->pin}).ok());
  Server::get().restart();
  const auto read = read_now(*store, {.key = "a", .pin = before->pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->bytes.text(), "hello");
  const auto listed = list_all(*store, "", {});
  ASSERT_TRUE(listed.ok()) << listed.error().to_string();
  EXPECT_EQ(listed->size(), 1U);
}

// A file that was replaced has another handle; it is looked up by its path, and is `changed`.
TEST_F(NfsStore, AReplacedFileIsOpenedAgainAndIsChanged) {
  write("a", "hello");
  const auto store = open({}, 1);
  const auto before = store->head("a", {});
  ASSERT_TRUE(read_now(*store, {.key = "a", .pin = before->pin}).ok());
  fs::remove(folder_ + "/a");
  write("a", "another");
  const auto pinned = read_now(*store, {.key = "a", .pin = before->pin});
  ASSERT_FALSE(pinned.ok());
  EXPECT_EQ(pinned.error().code(), Code::changed);
  EXPECT_EQ(read_now(*store, {.key = "a"})->bytes.text(), "another");
}

TEST_F(NfsStore, ALinkToAFileIsReadAndOneToAFolderIsLeftOutAndSaid) {
  write("real/a", "hello");
  fs::create_symlink("real/a", folder_ + "/link");
  fs::create_directory_symlink(".", folder_ + "/loop");
  fs::create_symlink("nothing", folder_ + "/dangling");
  const auto store = open();
  const auto listed = list_all(*store, "", {});
  ASSERT_TRUE(listed.ok()) << listed.error().to_string();
  ASSERT_EQ(listed->size(), 2U);
  EXPECT_EQ((*listed)[0].key, "link");
  EXPECT_EQ((*listed)[0].size, 5U);
  EXPECT_EQ((*listed)[1].key, "real/a");
  EXPECT_EQ(context_.notices->all().size(), 2U);
}

TEST_F(NfsStore, AUriThatNamesAFileIsThatFile) {
  write("x.rec", "records");
  write("x.idx", "index");
  const auto store = open("/x.rec");
  EXPECT_EQ(list_all(*store, "", {})->size(), 1U);
  EXPECT_EQ(read_now(*store, {.key = "x.idx"})->bytes.text(), "index");
}

TEST_F(NfsStore, WrongPlacesAreSaidWithWhatToDo) {
  const Error missing = open_error(Server::get().url() + "/no/such/folder");
  EXPECT_EQ(missing.code(), Code::not_found);
  EXPECT_THAT(missing.to_string(), HasSubstr("/no/such/folder"));
  const Error nobody = open_error("nfs://127.0.0.1:1/data");
  EXPECT_EQ(nobody.code(), Code::unavailable);
  EXPECT_THAT(nobody.to_string(), HasSubstr("NFSv4 server"));
  for (const char* port : {"port", "99999", "-1", "2049x"})
    EXPECT_EQ(open_error(fmt::format("nfs://127.0.0.1:{}/data", port)).code(), Code::invalid)
        << port;
}

TEST_F(NfsStore, AStopEndsAReadThatWaits) {
  write("a", "hello");
  const auto store = open({}, 1);
  std::stop_source stop;
  stop.request_stop();
  const auto read = read_now(*store, {.key = "a", .stop = stop.get_token()});
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace
