// SPDX-License-Identifier: Apache-2.0
// A list in pieces holds what one listing holds, whatever the keys and the server's order are.
#include "headrace/records/split_listing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <set>
#include <thread>

#include "headrace/base/mutex.h"
#include "headrace/base/random.h"
#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/s3_test_server.h"

namespace headrace {
namespace {

using Less = std::function<bool(const std::string&, const std::string&)>;

/// Lists its keys in an order of its own, in small pages.
class OrderedStore final : public NearLister {
 public:
  enum class Near { honoured, ignored, refused };

  OrderedStore(std::vector<std::string> keys, Less less, std::size_t page, Near near)
      : keys_(std::move(keys)), less_(std::move(less)), page_(page), near_(near) {
    std::ranges::sort(keys_, less_);
  }

  bool lists_near() const override { return true; }
  Result<void> list_near(const std::string& prefix, const std::string& near,
                         const std::stop_token& stop,
                         const std::function<Result<bool>(ListPage&&)>& sink) override {
    if (!near.empty() && near_ == Near::refused)
      return Error(Code::invalid, "StartAfter is not supported");
    auto at = keys_.begin();
    if (near_ == Near::honoured && !near.empty())
      at = std::upper_bound(keys_.begin(), keys_.end(), near, less_);
    const auto skip = [&] {
      at = std::find_if(at, keys_.end(), [&](const auto& key) { return key.starts_with(prefix); });
    };
    for (skip();;) {
      ListPage page;
      for (; at != keys_.end() && page.objects.size() < page_; skip())
        page.objects.push_back({.key = *at++, .size = 1});
      ++pages_;
      const bool end = at == keys_.end();
      if (after_page_) after_page_();
      HEADRACE_TRY(const bool more, sink(std::move(page)));
      if (!more && before_end_) before_end_();
      if (!more || end) return {};
      if (stop.stop_requested()) return Error(Code::cancelled, "stopped");
      std::this_thread::yield();
    }
  }

  std::size_t pages() const { return pages_; }
  void after_page(std::function<void()> call) { after_page_ = std::move(call); }
  /// Between "no more" and the end of that listing.
  void before_end(std::function<void()> call) { before_end_ = std::move(call); }

 private:
  std::vector<std::string> keys_;
  const Less less_;
  const std::size_t page_;
  const Near near_;
  std::atomic<std::size_t> pages_{0};
  std::function<void()> after_page_;
  std::function<void()> before_end_;
};

std::vector<std::string> listed(NearLister& store, const std::vector<std::string>& folders,
                                unsigned listers = 8) {
  Mutex mutex;
  std::vector<std::string> keys;
  const auto sink = [&](std::span<const ObjectInfo> page) -> Result<void> {
    const MutexLock lock(mutex);
    for (const auto& object : page) keys.push_back(object.key);
    return {};
  };
  const auto done = list_in_pieces(store, folders, listers, {}, sink);
  EXPECT_TRUE(done.ok()) << done.error().to_string();
  std::ranges::sort(keys);
  return keys;
}

std::vector<std::string> numbered(std::size_t count, const char* format = "f/img_{:07}.jpg") {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back(fmt::format(fmt::runtime(format), i));
  return keys;
}

std::vector<std::string> random_keys(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> letters = {"a",  "b", "-", "/", "é", "猫",
                                            "犬", "😀", "0", " ", "+"};
  Random random(seed);
  std::set<std::string> keys;
  while (keys.size() < count) {
    std::string key = "f/";
    for (std::size_t i = 0, size = 1 + random.next() % 9; i < size; ++i)
      key += letters[random.next() % letters.size()];
    if (!key.ends_with('/')) keys.insert(key);
  }
  return {keys.begin(), keys.end()};
}

std::vector<std::string> uneven() {
  auto keys = numbered(700, "f/all/the/same/beginning/{:05}");
  keys.insert(keys.end(), {"f/a", "f/zzz", "f/\xF0\x9F\x98\x80",
                           "f/all/the/same/beginning/"
                           "00001/below"});
  return keys;
}

const std::vector<std::pair<const char*, Less>>& orders() {
  static const std::vector<std::pair<const char*, Less>> kOrders = {
      {"bytes", std::less<std::string>()},
      {"reverse", std::greater<std::string>()},
      {"tree",  // of directories: '/' before all
       [](std::string a, std::string b) {
         std::ranges::replace(a, '/', '\0');
         std::ranges::replace(b, '/', '\0');
         return a < b;
       }},
      {"none that one could guess", [](const std::string& a, const std::string& b) {
         return std::pair(std::hash<std::string>()(a), a) <
                std::pair(std::hash<std::string>()(b), b);
       }}};
  return kOrders;
}

TEST(SplitListingTest, WhateverTheKeysAndTheOrderAllAreListed) {
  const std::vector<std::pair<const char*, std::vector<std::string>>> sets = {
      {"numbers", numbered(1200)},
      {"one key", {"f/only"}},
      {"none", {}},
      {"few keys", numbered(7)},
      {"uneven", uneven()},
      {"unicode", random_keys(800, 1)},
      {"a page", numbered(10)},
      {"unicode, fewer", random_keys(300, 2)}};
  using Near = OrderedStore::Near;
  for (const auto& [name, keys] : sets) {
    std::vector<std::string> sorted = keys;
    std::ranges::sort(sorted);
    for (const auto& [order, less] : orders()) {
      for (const Near near : {Near::honoured, Near::ignored, Near::refused}) {
        OrderedStore store(keys, less, 10, near);
        auto found = listed(store, {"f/"});
        const bool exact = order == std::string("bytes");
        if (!exact) found.erase(std::unique(found.begin(), found.end()), found.end());
        EXPECT_EQ(found, sorted) << name << " in the order of " << order;
      }
    }
  }
}

// A piece that met another's mark at once, and was not over yet, was once taken in two from its
// last key on, which it did not have: the half began before the piece.
TEST(SplitListingTest, APieceThatHasNothingOfItsOwnIsNotTakenInTwo) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    auto keys = random_keys(300, seed);
    OrderedStore store(keys, std::less<std::string>(), 10, OrderedStore::Near::honoured);
    store.before_end([] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); });
    std::ranges::sort(keys);
    EXPECT_EQ(listed(store, {"f/"}), keys) << seed;
  }
}

TEST(SplitListingTest, OfAnS3ServerWhateverItMakesOfStartAfter) {
  using testing::S3Habits;
  const auto keys = numbered(600);
  for (const bool byte_order : {true, false}) {
    for (const auto start_after : {S3Habits::StartAfter::honoured, S3Habits::StartAfter::ignored,
                                   S3Habits::StartAfter::refused}) {
      testing::S3TestServer server(
          {.byte_order = byte_order, .page = 20, .start_after = start_after});
      for (const auto& key : keys) server.put("root/" + key, "x");
      const auto store = make_s3_store("b", "root/", Context{}, server.options());
      ASSERT_TRUE(store.ok());
      auto found = listed(*near_lister(**store), {"f/"});
      found.erase(std::unique(found.begin(), found.end()), found.end());
      EXPECT_EQ(found, keys);
    }
  }
}

TEST(SplitListingTest, PiecesAreListedSideBySide) {
  OrderedStore store(numbered(8000), std::less<std::string>(), 10, OrderedStore::Near::honoured);
  std::set<std::thread::id> threads;
  Mutex mutex;
  store.after_page([&] {
    {
      const MutexLock lock(mutex);
      threads.insert(std::this_thread::get_id());
      if (threads.size() == 8) return;
    }
    // As a server takes its time: on a busy machine few threads would have listed it all before the
    // others had begun.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  });
  EXPECT_EQ(listed(store, {"f/"}), numbered(8000));
  EXPECT_EQ(threads.size(), 8U) << "all listers had a piece";
  EXPECT_LE(store.pages(), 800U * 3 / 2 + 40) << "guesses in vain are bounded";
}

TEST(SplitListingTest, AServerThatBeginsAtTheBeginningIsAskedOnce) {
  for (const auto near : {OrderedStore::Near::ignored, OrderedStore::Near::refused}) {
    OrderedStore store(numbered(2000), std::less<std::string>(), 10, near);
    EXPECT_EQ(listed(store, {"f/"}), numbered(2000));
    EXPECT_LE(store.pages(), 200U + 32)
        << "one guess a lister at most, and those that were planned";
  }
}

TEST(SplitListingTest, AShortFolderCostsNoMoreThanItsPages) {
  OrderedStore store(numbered(39), std::less<std::string>(), 10, OrderedStore::Near::honoured);
  EXPECT_EQ(listed(store, {"f/"}), numbered(39));
  EXPECT_EQ(store.pages(), 4U);
}

TEST(SplitListingTest, FoldersAreListedBesideLongOnes) {
  auto keys = numbered(1000, "long/{:05}");
  std::vector<std::string> folders = {"long/"};
  for (int i = 0; i < 50; ++i) {
    folders.push_back(fmt::format("short-{:02}/", i));
    for (int j = 0; j < i; ++j) keys.push_back(folders.back() + std::to_string(j));
  }
  OrderedStore store(keys, std::less<std::string>(), 10, OrderedStore::Near::honoured);
  std::ranges::sort(keys);
  EXPECT_EQ(listed(store, folders), keys);
}

TEST(SplitListingTest, AnErrorOfTheSinkEndsAll) {
  OrderedStore store(numbered(2000), std::less<std::string>(), 10, OrderedStore::Near::honoured);
  std::atomic<int> pages{0};
  const auto sink = [&](std::span<const ObjectInfo> /*page*/) -> Result<void> {
    if (++pages == 100) return Error(Code::exhausted, "full");
    return {};
  };
  const std::vector<std::string> folders = {"f/"};
  const auto done = list_in_pieces(store, folders, 8, {}, sink);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::exhausted);
}

TEST(SplitListingTest, StopEndsIt) {
  std::stop_source stop;
  OrderedStore store(numbered(2000), std::less<std::string>(), 10, OrderedStore::Near::honoured);
  std::atomic<int> pages{0};
  const auto sink = [&](std::span<const ObjectInfo> /*page*/) -> Result<void> {
    if (++pages == 50) stop.request_stop();
    return {};
  };
  const std::vector<std::string> folders = {"f/"};
  const auto done = list_in_pieces(store, folders, 8, stop.get_token(), sink);
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(done.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace
