// SPDX-License-Identifier: Apache-2.0
#include "headrace/job/fetch/fetch.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "headrace/base/unique_fd.h"
#include "headrace/job/fetch/journal.h"
#include "headrace/job/fetch/names.h"
#include "headrace/loader/testing/scripted_store.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/local/volume.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using testing::pattern;
using testing::ScriptedStore;
using testing::TemporaryFolder;

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Lists every object as if it had `bytes`.
class LargerStore final : public ForwardingStore<> {
 public:
  LargerStore(Store& below, std::uint64_t bytes) : ForwardingStore(below), bytes_(bytes) {}
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return below().list(request, stop, [&](ListPage&& page) {
      for (ObjectInfo& object : page.objects) object.size = object.pin.size = bytes_;
      return sink(std::move(page));
    });
  }

 private:
  const std::uint64_t bytes_;
};

class Fetch : public ::testing::Test {
 protected:
  void add(const std::string& key, const std::string& content) {
    ASSERT_TRUE(put(store_, key, as_byte_span(content), {}).ok());
    contents_[key] = content;
  }
  Result<FetchReport> run(const FetchOptions& options = {}) {
    return fetch(store_, folder_.string(), options, {});
  }
  void expect_all() {
    for (const auto& [key, content] : contents_) {
      EXPECT_EQ(content_of(folder_.path() / key), content) << key;
    }
  }
  std::size_t reads_of(const std::string& key) const {
    const auto reads = store_.reads();
    return static_cast<std::size_t>(
        std::count_if(reads.begin(), reads.end(), [&key](const auto& r) { return r.key == key; }));
  }

  TemporaryFolder folder_;
  ScriptedStore store_;
  std::map<std::string, std::string> contents_;
};

TEST_F(Fetch, GivesFilesTheirKeysAndBytes) {
  for (int i = 0; i < 100; ++i) {
    add(fmt::format("class {}/sub/{} %2B+&.jpg", i % 3, i),
        pattern(static_cast<std::uint64_t>(i), static_cast<std::size_t>(i) * 10));
  }
  add("in the root", "x");
  const auto report = run();
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->objects, 101U);
  EXPECT_EQ(report->fetched_objects, 101U);
  expect_all();
  for (const auto& read : store_.reads()) EXPECT_TRUE(read.pin.has_value());
}

TEST_F(Fetch, TakesLargeObjectsInPieces) {
  add("large.rec", pattern(1, 100'000));
  add("exact.rec", pattern(2, 3000));
  add("empty", "");
  std::atomic<std::uint64_t> most = 0;
  const auto report =
      run({.workers = 4, .piece_bytes = 1000, .progress = [&](auto done, auto total) {
             EXPECT_EQ(total, 103'000U);
             if (done > most) most = done;
           }});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(reads_of("large.rec"), 100U);
  EXPECT_EQ(reads_of("exact.rec"), 3U);
  EXPECT_EQ(most, 103'000U);
  expect_all();
}

TEST_F(Fetch, GoesOnWithABudgetSmallerThanAPiece) {
  add("large.rec", pattern(1, 100'000));
  add("small", "x");
  const auto report = run({.workers = 16, .piece_bytes = 1000, .budget_bytes = 1});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(reads_of("large.rec"), 100U);
  expect_all();
}

TEST_F(Fetch, LeavesWhatIsThereAlone) {
  add("a/1", "one");
  add("a/2", "two");
  ASSERT_TRUE(run().ok());
  const auto again = run();
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->fetched_objects, 0U);
  EXPECT_EQ(again->objects, 2U);
  add("a/1", "One");  // replaced, of the same size
  std::ofstream(folder_.path() / "a/2") << "of another size";
  const auto third = run();
  EXPECT_EQ(third->fetched_objects, 2U);
  expect_all();
}

TEST_F(Fetch, GoesOnWhereAFailedOneEnded) {
  for (int i = 0; i < 40; ++i) add(fmt::format("c/{:02}", i), std::string(50, 'x'));
  store_.fail("c/35", Code::unavailable);
  const auto failed = run({.workers = 1});
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().code(), Code::unavailable);
  EXPECT_FALSE(failed.error().remedy().empty());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "c/35"));
  store_.fail("c/35", Code::unavailable, 0);
  const auto rest = run();
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rest->fetched_objects, 5U);
  expect_all();
}

TEST_F(Fetch, KeepsAGoodFileWhenItsSuccessorFails) {
  add("c/1", "good");
  ASSERT_TRUE(run().ok());
  add("c/1", "better");
  store_.fail("c/1", Code::unavailable);
  EXPECT_FALSE(run().ok());
  EXPECT_EQ(content_of(folder_.path() / "c/1"), "good");
}

TEST_F(Fetch, RemovesWhatAKilledOneLeft) {
  add("c/1", "x");
  std::filesystem::create_directories(folder_.path() / ".headrace");
  std::ofstream(folder_.path() / ".headrace/part-7") << "half";
  std::ofstream(folder_.path() / ".headrace/fetched") << "torn li";
  ASSERT_TRUE(run().ok());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / ".headrace/part-7"));
  EXPECT_EQ(std::filesystem::file_size(folder_.path() / ".headrace/fetched"), 33U);
  EXPECT_EQ(run()->fetched_objects, 0U);
}

TEST_F(Fetch, RefusesKeysThatAreNoFileNames) {
  add("fine/1.jpg", "x");
  add("a", "file");
  add("a!between", "x");
  add("a/b", "and folder");
  add("double//slash", "x");
  add("dots/../up", "x");
  add("end/", "with content");
  add(std::string(300, 'n'), "x");
  const auto refused = run();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::invalid);
  const std::string text = refused.error().to_string();
  for (const char* part : {R"("a": a file, and the folder of "a/b")", "double//slash", "dots/../up",
                           "end/", "255 bytes"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  }
  EXPECT_TRUE(store_.reads().empty()) << "before anything is read";
}

TEST_F(Fetch, FindsNothingAnError) { EXPECT_EQ(run().error().code(), Code::not_found); }

TEST_F(Fetch, TakesWhatIsAskedForBeside) {
  add("a.rec", "records");
  const auto report = run({.also = {"a.idx", "a.rec"}});
  ASSERT_TRUE(report.ok()) << report.error().to_string();
  EXPECT_EQ(report->objects, 1U);
}

TEST_F(Fetch, IsAloneInItsFolder) {
  add("c/1", "x");
  const auto other = fetching::Journal::open(folder_.string());
  ASSERT_TRUE(other.ok());
  const auto refused = run();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::invalid);
}

TEST_F(Fetch, StopsInTheMiddle) {
  for (int i = 0; i < 40; ++i) add(fmt::format("c/{}", i), "x");
  store_.hold("c/20");
  std::stop_source stop;
  std::jthread later([&stop, this] {
    while (store_.reads().size() < 40) std::this_thread::yield();
    stop.request_stop();
  });
  const auto stopped = fetch(store_, folder_.string(), {.workers = 40}, stop.get_token());
  ASSERT_FALSE(stopped.ok());
  EXPECT_EQ(stopped.error().code(), Code::cancelled);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / ".headrace/part-20"));
}

TEST_F(Fetch, ThatWasStoppedKeepsWhatIsWholeUntilTheMachineStartsAnew) {
  const auto own = folder_.path() / ".headrace";
  const auto stop_after_ten = [this] {
    std::stop_source stop;
    std::atomic<int> seen = 0;
    return fetch(store_, folder_.string(),
                 {.workers = 1,
                  .progress =
                      [&](std::uint64_t, std::uint64_t) {
                        if (++seen == 10) stop.request_stop();
                      }},
                 stop.get_token());
  };
  for (int i = 0; i < 20; ++i) add(fmt::format("c/{:02}", i), pattern(7, 1000));
  ASSERT_EQ(stop_after_ten().error().code(), Code::cancelled);
  EXPECT_EQ(content_of(own / "fetched"), "") << "nothing is known to be durable";
  ASSERT_TRUE(std::filesystem::exists(own / "left"));
  const auto left = content_of(own / "left");

  std::ofstream(own / "left") << "another boot" << left.substr(left.find('\n'));
  ASSERT_EQ(stop_after_ten().error().code(), Code::cancelled);
  EXPECT_EQ(reads_of("c/00"), 2U) << "a power failure may have taken it";

  const auto rest = run();
  ASSERT_TRUE(rest) << rest.error().to_string();
  EXPECT_EQ(rest->fetched_objects, 10U);
  EXPECT_EQ(reads_of("c/00"), 2U);
  EXPECT_FALSE(std::filesystem::exists(own / "left"));
  const auto again = run();
  ASSERT_TRUE(again);
  EXPECT_EQ(again->fetched_objects, 0U) << "all have lines";
  expect_all();
}

TEST_F(Fetch, SaysWhenAnObjectChanged) {
  add("c/1", "x");
  store_.fail("c/1", Code::changed);
  EXPECT_EQ(run().error().code(), Code::changed);
}

TEST_F(Fetch, ThatDoesNotFitLeavesNothing) {
  struct statvfs space {};
  ASSERT_EQ(::statvfs(folder_.string().c_str(), &space), 0);
  // An object that claims to be larger than the volume: it is never read.
  add("c/huge", "small");
  LargerStore store(store_, space.f_bavail * space.f_frsize + (std::uint64_t{1} << 40U));
  const auto to = folder_.path() / "new/set";
  const auto refused = fetch(store, to.string(), {}, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::exhausted);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "new"));
}

TEST(FetchVolume, IsNamedWithWhatIsNeededAndWhatIsFree) {
  const TemporaryFolder folder;
  const auto volume = local::volume_of(folder.string());
  ASSERT_TRUE(volume.ok());
  EXPECT_TRUE(std::filesystem::is_directory(volume->mounted_at));
  EXPECT_GT(volume->block_bytes, 0U);
  struct statvfs uncounted {};
  ASSERT_EQ(::statvfs("/proc", &uncounted), 0);
  if (uncounted.f_files == 0) {
    EXPECT_EQ(local::volume_of("/proc")->free_files, local::Volume{}.free_files);
  }
  const local::Volume small{.mounted_at = "/mnt/small", .free_bytes = 1000};
  EXPECT_TRUE(local::check_space(small, {1000, 1'000'000}, "").ok()) << "files are not counted";
  const auto refused = local::check_space(small, {1001, 1}, "take a larger one");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::exhausted);
  for (const char* part : {"/mnt/small", "1000", "1001"}) {
    EXPECT_NE(refused.error().to_string().find(part), std::string::npos);
  }
}

TEST(FetchVolume, ThatHoldsNoMoreFilesIsNamed) {
  const local::Volume few{.mounted_at = "/mnt/few", .free_bytes = 1000, .free_files = 20};
  EXPECT_TRUE(local::check_space(few, {1000, 20}, "").ok());
  const auto refused = local::check_space(few, {1000, 21}, "take a larger one");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code(), Code::exhausted);
  for (const char* part : {"/mnt/few", "20 more files", "21"})
    EXPECT_NE(refused.error().to_string().find(part), std::string::npos) << part;
}

TEST(FetchVolume, HasWhatWasWrittenOrIsNotWaitedFor) {
  const TemporaryFolder folder;
  const UniqueFd fd(::open(folder.string().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  EXPECT_TRUE(local::sync_volume(fd.get(), {}).ok());
  const auto failed = local::sync_volume(-1, {});
  ASSERT_FALSE(failed.ok());
  EXPECT_NE(failed.error().to_string().find("syncfs"), std::string::npos);
  std::stop_source stop;
  stop.request_stop();
  const auto stopped = local::sync_volume(fd.get(), stop.get_token());
  EXPECT_TRUE(stopped.ok() || stopped.error().code() == Code::cancelled);
}

TEST(FetchNames, AreRefusedForAReason) {
  for (const char* good : {"a", "a/b c.jpg", "a/...", ".hidden/x", "s3:/x"}) {
    EXPECT_EQ(fetching::unfit(good), "") << good;
  }
  for (const char* bad : {"", "/a", "a/", "a//b", ".", "a/./b", "../a", ".headrace/lock"}) {
    EXPECT_NE(fetching::unfit(bad), "") << bad;
  }
  EXPECT_NE(fetching::unfit(std::string_view("a\0b", 3)), "");
}

}  // namespace
}  // namespace headrace
