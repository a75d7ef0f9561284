// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/mount/tree.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <set>

#include "headrace/consumers/mount/errno_code.h"
#include "headrace/consumers/mount/names.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/failing_store.h"

namespace headrace::mount {
namespace {

using headrace::testing::Call;
using headrace::testing::fail_kth;
using headrace::testing::FailingStore;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TreeTest : public ::testing::Test {
 protected:
  void add(const std::string& key, std::string_view content = "x") {
    ASSERT_TRUE(put(store_, key, as_byte_span(content), {}).ok());
  }
  void grow(Store& store) {
    auto made = Tree::make(store, context_);
    ASSERT_TRUE(made.ok());
    tree_ = *std::move(made);
  }
  Node at(const std::string& path) {
    Node node{.id = kRoot, .folder = true};
    for (std::size_t from = 0; from < path.size();) {
      const auto slash = std::min(path.find('/', from), path.size());
      const auto found = tree_->lookup(node.id, path.substr(from, slash - from), {});
      EXPECT_TRUE(found.ok()) << path << ": " << found.error().to_string();
      if (!found) return {};
      node = *found;
      from = slash + 1;
    }
    return node;
  }
  std::vector<std::string> names(const std::string& path) {
    std::vector<std::string> all;
    NodeId after = kNone;
    for (;;) {
      const auto page = tree_->children(at(path).id, after, 3, {});
      EXPECT_TRUE(page.ok());
      if (!page || page->empty()) return all;
      for (const auto& child : *page) all.push_back(child.name + (child.node.folder ? "/" : ""));
      after = page->back().node.id;
    }
  }
  std::string hidden() {
    for (const auto& notice : context_.notices->all()) {
      if (notice.kind == "hidden-name") return fmt::format("{} x{}", notice.text, notice.count);
    }
    return {};
  }

  Context context_;
  MemoryStore store_;
  std::unique_ptr<Tree> tree_;
};

TEST_F(TreeTest, FoldersAndFilesInTheOrderOfTheirNames) {
  for (const char* key : {"b/2.jpg", "b/10.jpg", "a/x/deep.jpg", "top.txt", "a/1.jpg"}) add(key);
  grow(store_);
  EXPECT_THAT(names(""), ElementsAre("a/", "b/", "top.txt"));
  EXPECT_THAT(names("b"), ElementsAre("10.jpg", "2.jpg"));
  EXPECT_THAT(names("a/x"), ElementsAre("deep.jpg"));
  EXPECT_EQ(tree_->object(at("a/x/deep.jpg").id)->key, "a/x/deep.jpg");
}

TEST_F(TreeTest, AFileHasTheSizeAndThePinOfItsObject) {
  add("a/1.jpg", "12345");
  grow(store_);
  const auto object = tree_->object(at("a/1.jpg").id);
  ASSERT_TRUE(object.ok());
  EXPECT_EQ(object->size, 5U);
  EXPECT_EQ(object->pin, store_.head("a/1.jpg", {})->pin);
  EXPECT_EQ(tree_->object(at("a").id).error().code(), Code::invalid);
}

TEST_F(TreeTest, WhatIsNotThereIsNotFound) {
  add("a/1.jpg");
  grow(store_);
  EXPECT_EQ(tree_->lookup(kRoot, "b", {}).error().code(), Code::not_found);
  EXPECT_EQ(tree_->lookup(at("a").id, "2.jpg", {}).error().code(), Code::not_found);
  EXPECT_EQ(tree_->lookup(12345, "b", {}).error().code(), Code::invalid);
  EXPECT_EQ(tree_->lookup(at("a/1.jpg").id, "b", {}).error().code(), Code::invalid);
}

// Promise F3: Where a key is both an object and a folder, the folder is shown.
TEST_F(TreeTest, AFolderHidesTheObjectOfItsName) {
  for (const char* key : {"a", "a/b", "a-", "c"}) add(key);
  grow(store_);
  EXPECT_THAT(names(""), ElementsAre("a/", "a-", "c"));  // by names, not by keys
  EXPECT_TRUE(at("a").folder);
  EXPECT_THAT(names("a"), ElementsAre("b"));
  EXPECT_THAT(hidden(), HasSubstr("a is not shown: a folder has the same name x1"));
}

// Promise F4: A name that no file system can have is hidden, counted and said once, and hides
// nothing else.
TEST_F(TreeTest, NamesThatNoFileSystemHasAreHidden) {
  const std::string longest(kLongestName, 'n');
  for (const std::string& key :
       {std::string("a//b"), std::string("a/../b"), std::string("./x"), longest + "n/z", longest,
        std::string("e/"), std::string("a/good")}) {
    add(key);
  }
  grow(store_);
  EXPECT_THAT(names(""), ElementsAre("a/", "e/", longest));
  EXPECT_THAT(names("a"), ElementsAre("good"));
  EXPECT_THAT(names("e"), ElementsAre());
  EXPECT_THAT(hidden(), HasSubstr("x5"));
}

TEST(Names, EachKindSaysWhy) {
  EXPECT_EQ(why_hidden("picture 1.jpg"), "");
  EXPECT_EQ(why_hidden("...\xff"), "");
  for (const std::string_view bad : {"", ".", "..", "a/b"}) EXPECT_NE(why_hidden(bad), "") << bad;
  EXPECT_NE(why_hidden(std::string(256, 'x')), "");
  EXPECT_NE(why_hidden(std::string_view("a\0b", 3)), "");
}

TEST_F(TreeTest, AnInodeDependsOnTheKeyAlone) {
  for (int i = 0; i < 100; ++i) add(fmt::format("a/{}", i));
  grow(store_);
  std::set<std::uint64_t> all;
  const auto before = tree_->inode(at("a/7").id);
  for (int i = 0; i < 100; ++i) all.insert(tree_->inode(at(fmt::format("a/{}", i)).id));
  EXPECT_EQ(all.size(), 100U);
  add("a/0.5");
  add("0/first");
  grow(store_);
  EXPECT_EQ(tree_->inode(at("a/7").id), before);
}

TEST_F(TreeTest, AListThatFailsFailsWhoWaitsAndIsTriedAgain) {
  add("a/1.jpg");
  FailingStore failing(store_, fail_kth(Call::Kind::list, 1, {.code = Code::unavailable}));
  grow(failing);
  const auto a = at("a");
  EXPECT_EQ(tree_->lookup(a.id, "1.jpg", {}).error().code(), Code::unavailable);
  EXPECT_TRUE(tree_->lookup(a.id, "1.jpg", {}).ok());
  EXPECT_EQ(failing.calls(Call::Kind::list), 3U);
}

TEST_F(TreeTest, TheFirstLookSaysWhatIsWrongWithThePlace) {
  FailingStore failing(store_, fail_kth(Call::Kind::list, 0, {.code = Code::denied}));
  grow(failing);
  EXPECT_EQ(tree_->check({}).error().code(), Code::denied);
}

TEST_F(TreeTest, APlaceWithNothingInItIsMostlyMisspelt) {
  grow(store_);
  const auto checked = tree_->check({});
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().code(), Code::not_found);
  add("a/1.jpg");
  grow(store_);
  EXPECT_TRUE(tree_->check({}));
}

TEST_F(TreeTest, AFolderIsListedOnce) {
  for (int i = 0; i < 10; ++i) add(fmt::format("a/{}", i));
  FailingStore counting(store_, [](const Call&) { return std::nullopt; });
  grow(counting);
  for (int i = 0; i < 10; ++i) at(fmt::format("a/{}", i));
  EXPECT_EQ(tree_->lookup(at("a").id, "none", {}).error().code(), Code::not_found);
  EXPECT_EQ(counting.calls(Call::Kind::list), 2U);
}

TEST_F(TreeTest, AWalkThroughFoldersListsThemAhead) {
  for (int i = 0; i < 20; ++i) add(fmt::format("class-{:02}/x", i));
  FailingStore counting(store_, [](const Call&) { return std::nullopt; });
  grow(counting);
  at("class-00/x");
  at("class-01/x");
  while (counting.calls(Call::Kind::list) < 10) std::this_thread::yield();  // root, 2, and 7 ahead
  EXPECT_EQ(counting.calls(Call::Kind::list), 10U);
}

TEST_F(TreeTest, AWaitEndsWithItsStop) {
  add("a/1.jpg");
  grow(store_);
  std::stop_source stop;
  stop.request_stop();
  const auto found = tree_->lookup(kRoot, "a", stop.get_token());
  EXPECT_TRUE(found.ok() || found.error().code() == Code::cancelled);
}

TEST(ErrnoCode, IsTheTableOfThePage) {
  EXPECT_EQ(errno_code(Code::not_found), ENOENT);
  EXPECT_EQ(errno_code(Code::denied), EACCES);
  EXPECT_EQ(errno_code(Code::unavailable), EIO);
  EXPECT_EQ(errno_code(Code::corrupt), EIO);
  EXPECT_EQ(errno_code(Code::changed), ESTALE);
  EXPECT_EQ(errno_code(Code::cancelled), EINTR);
  EXPECT_EQ(errno_code(Code::invalid), EINVAL);
  EXPECT_EQ(errno_code(Code::exhausted), ENOMEM);
}

}  // namespace
}  // namespace headrace::mount
