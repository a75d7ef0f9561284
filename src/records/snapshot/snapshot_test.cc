// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "headrace/records/dataset.h"
#include "headrace/records/list_index.h"
#include "headrace/records/snapshot/keeping.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/memory/memory_store.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

using headrace::testing::TemporaryFolder;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

/// Says how often it was asked what there is, and what is in it.
class Counted final : public ForwardingStore<> {
 public:
  using ForwardingStore::ForwardingStore;
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    ++questions;
    return below().head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    ++questions;
    return below().list(request, stop, sink);
  }

  void read(ReadRequest request, ReadDone done) override {
    ++reads;
    below().read(std::move(request), std::move(done));
  }

  std::atomic<int> questions{0};
  std::atomic<int> reads{0};
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::string& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

std::vector<std::string> notices(const Context& context) {
  std::vector<std::string> kinds;
  for (const auto& notice : context.notices->all()) kinds.push_back(notice.kind);
  return kinds;
}

class SnapshotTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 50; ++i) {
      fill(fmt::format("cat/{:03}.jpg", i), "a cat");
      fill(fmt::format("a-b/deep/{:03}.jpg", i), "another");
    }
    fill("a/1.jpg", "class a, though a-b/ comes before a/");
  }
  void fill(const std::string& key, std::string_view content) {
    ASSERT_TRUE(put(memory_, key, as_byte_span(content), {}));
  }
  std::shared_ptr<const Snapshot> keep(SnapshotUse use, const Context& context) {
    auto kept = keep_snapshot(store_, {.use = use, .file = file_}, context, {});
    EXPECT_TRUE(kept.ok()) << kept.error().to_string();
    return kept.ok() ? *kept : nullptr;
  }
  static std::unique_ptr<Dataset> open(Store& store) {
    auto set = open_dataset(store, {}, {});
    EXPECT_TRUE(set.ok()) << set.error().to_string();
    return set.ok() ? *std::move(set) : nullptr;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.string() + "/sub/set.snapshot";
  MemoryStore memory_;
  Counted store_{memory_};
};

// Promise M8: A snapshot that is used again lists nothing, gives the same set, and what changed
// since is an error that names it.
TEST_F(SnapshotTest, ReuseAsksNothingAndGivesTheSameSet) {
  const auto listed = open(store_);
  keep(SnapshotUse::refresh, {});
  store_.questions = 0;
  store_.reads = 0;
  const Context context;
  const auto again = keep(SnapshotUse::reuse, context);
  const auto view = make_snapshot_store(store_, again);
  const auto set = open(*view);
  EXPECT_EQ(store_.questions, 0);
  EXPECT_EQ(store_.reads, 0) << "an object was looked into for the format, a round trip";
  ASSERT_EQ(set->size(), listed->size());
  EXPECT_EQ(set->fingerprint(), listed->fingerprint());
  EXPECT_EQ(set->classes(), listed->classes());
  for (std::uint64_t i = 0; i < set->size(); ++i) {
    EXPECT_EQ(set->name(SampleId{i}), listed->name(SampleId{i}));
    EXPECT_EQ(set->label(SampleId{i}), listed->label(SampleId{i}));
    EXPECT_EQ(set->locate(SampleId{i}).pin, listed->locate(SampleId{i}).pin);
  }
  ASSERT_EQ(context.notices->all().size(), 1U);
  EXPECT_THAT(context.notices->all()[0].text, AllOf(HasSubstr("101 objects"), HasSubstr("ago")));
}

TEST_F(SnapshotTest, WhatIsNoPlainSetOfClassesIsReadAsAListing) {
  fill("cat/.hidden", "no sample");
  const auto listed = open(store_);
  const auto taken = keep(SnapshotUse::refresh, {});
  EXPECT_FALSE(taken->plain());
  const auto view = make_snapshot_store(store_, taken);
  store_.questions = 0;
  EXPECT_EQ(open(*view)->fingerprint(), listed->fingerprint());
  EXPECT_EQ(store_.questions, 0);
}

TEST_F(SnapshotTest, KnowsTheFormatOfContainersToo) {
  MemoryStore memory;
  std::ifstream file(HEADRACE_TEST_DATA "/vectors/webdataset/cls_text.tar", std::ios::binary);
  const std::string tar{std::istreambuf_iterator<char>(file), {}};
  ASSERT_TRUE(put(memory, "no-name-that-tells", as_byte_span(tar), {}));
  for (const auto use : {SnapshotUse::refresh, SnapshotUse::reuse}) {
    const auto kept = keep_snapshot(memory, {.use = use, .file = file_}, {}, {});
    ASSERT_TRUE(kept) << kept.error().to_string();
    EXPECT_EQ((*kept)->format(), "tar");
    EXPECT_EQ(open(*make_snapshot_store(memory, *kept))->format(), "tar");
  }
}

// One object that is there and cannot be read must not keep the others from being listed.
TEST_F(SnapshotTest, WhatCannotBeLookedIntoIsToldByWhoOpensTheSet) {
  class Unreadable final : public ForwardingStore<> {
   public:
    using ForwardingStore::ForwardingStore;
    void read(ReadRequest /*request*/, ReadDone done) override {
      done(Error(Code::denied, "GET is not allowed"));
    }
  };
  Unreadable store(memory_);
  const auto kept = keep_snapshot(store, {.use = SnapshotUse::refresh, .file = file_}, {}, {});
  ASSERT_TRUE(kept) << kept.error().to_string();
  EXPECT_EQ((*kept)->format(), "");
  const auto set = open_dataset(*make_snapshot_store(store, *kept), {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::denied);
}

TEST_F(SnapshotTest, RefreshSeesWhatCame) {
  keep(SnapshotUse::refresh, {});
  fill("cat/new.jpg", "new");
  EXPECT_EQ(keep(SnapshotUse::reuse, {})->objects().size(), 101U);
  EXPECT_EQ(keep(SnapshotUse::refresh, {})->objects().size(), 102U);
  EXPECT_EQ(keep(SnapshotUse::reuse, {})->objects().size(), 102U);
}

TEST_F(SnapshotTest, WhatChangedSinceIsNamedWhenItIsRead) {
  keep(SnapshotUse::refresh, {});
  fill("cat/000.jpg", "another cat");
  const auto snapshot = keep(SnapshotUse::reuse, {});
  const auto view = make_snapshot_store(store_, snapshot);
  const auto found = view->head("cat/000.jpg", {});
  ASSERT_TRUE(found);
  ReadRequest request{.key = "cat/000.jpg", .pin = found->pin};
  const auto read = read_now(*view, std::move(request));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), Code::changed);
}

TEST_F(SnapshotTest, ACutOrDamagedFileIsTakenAnewAndSaysSo) {
  keep(SnapshotUse::refresh, {});
  const std::string good = read_file(file_);
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{20}, good.size() / 2, good.size() - 1}) {
    write_file(file_, good.substr(0, cut));
    const Context context;
    EXPECT_EQ(keep(SnapshotUse::reuse, context)->objects().size(), 101U) << cut;
    EXPECT_THAT(notices(context), UnorderedElementsAre("snapshot-damaged", "snapshot")) << cut;
  }
  for (std::size_t at = 8; at < 80; ++at) {  // the head
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    write_file(file_, bad);
    const auto loaded = Snapshot::load(file_, store_.describe());
    ASSERT_FALSE(loaded) << at;
    EXPECT_EQ(loaded.error().code(), Code::corrupt) << at;
  }
}

TEST_F(SnapshotTest, AFileThatIsNotOursOrOfAnotherPlaceIsLeftAsItIs) {
  std::filesystem::create_directories(folder_.string() + "/sub");
  const std::string picture(1000, 'p');
  write_file(file_, picture);
  for (const auto use : {SnapshotUse::refresh, SnapshotUse::reuse}) {
    const auto kept = keep_snapshot(store_, {.use = use, .file = file_}, {}, {});
    ASSERT_FALSE(kept);
    EXPECT_THAT(kept.error().to_string(), AllOf(HasSubstr("no snapshot"), HasSubstr(file_)));
    EXPECT_EQ(read_file(file_), picture);
  }
  std::filesystem::remove(file_);
  keep(SnapshotUse::refresh, {});
  const auto other = Snapshot::load(file_, "s3://other/");
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().to_string(), HasSubstr("not of s3://other/"));
}

TEST_F(SnapshotTest, AFolderThatCannotBeWrittenSaysSo) {
  write_file(folder_.string() + "/sub", "a file where the folder would be");
  const auto kept = keep_snapshot(store_, {.use = SnapshotUse::refresh, .file = file_}, {}, {});
  ASSERT_FALSE(kept);
  EXPECT_THAT(kept.error().to_string(), HasSubstr("--snapshot-file"));
}

// The worked example of FORMAT.md.
TEST(SnapshotFormat, TheWorkedExampleIsWhatIsWritten) {
  auto builder = ObjectIndexBuilder::make();
  ASSERT_TRUE(builder);
  const std::string etag = '"' + std::string(32, '0') + '"';
  ASSERT_TRUE(builder->add({.key = "cat/1", .size = 3, .pin = {.etag = etag, .size = 3}}));
  const auto index = builder->finish();
  ASSERT_TRUE(index);
  const std::string entry(
      static_cast<const char*>(static_cast<const void*>(index->entries().data())),
      sizeof(ObjectEntry));
  EXPECT_EQ(entry, std::string(8, '\0') + '\3' + std::string(23, '\0'));
  EXPECT_EQ(std::string(index->names().begin(), index->names().end()),
            std::string("\0\0\5\0cat/1", 9));
  EXPECT_EQ(index->pin(0).etag, etag);
}

class ObjectIndexTest : public ::testing::TestWithParam<int> {};

// Every size around the blocks in which names are written.
TEST_P(ObjectIndexTest, FindsWhatWasAddedAndNothingElse) {
  auto builder = ObjectIndexBuilder::make();
  ASSERT_TRUE(builder);
  std::vector<ObjectInfo> added;
  for (int i = 0; i < GetParam(); ++i) {
    ObjectInfo object{.key = fmt::format("class-{}/{:07}", i % 3, i * 10), .size = 7};
    object.pin = {.etag = i % 2 == 0 ? fmt::format("\"{:032x}\"", i) : "\"odd-2\"",
                  .version = i % 5 == 0 ? "v1" : "",
                  .modified_ns = 1'000'000'000LL * i,
                  .size = 7};
    object.archived = i % 7 == 0;
    ASSERT_TRUE(builder->add(object));
    if (i % 4 == 0) {
      ASSERT_TRUE(builder->add(object));  // twice
    }
    added.push_back(object);
  }
  const auto index = builder->finish();
  ASSERT_TRUE(index);
  EXPECT_EQ(builder->dropped(), static_cast<std::uint64_t>((GetParam() + 3) / 4));
  std::ranges::sort(added, {}, &ObjectInfo::key);
  ASSERT_EQ(index->size(), added.size());
  for (std::uint64_t i = 0; i < added.size(); ++i) {
    EXPECT_EQ(index->key(i), added[i].key);
    EXPECT_EQ(index->pin(i), added[i].pin);
    EXPECT_EQ(index->archived(i), added[i].archived);
    EXPECT_EQ(index->find(added[i].key), i);
    EXPECT_EQ(index->lower_bound(added[i].key + "0"), i + 1);
    EXPECT_FALSE(index->find(added[i].key + "0"));
    EXPECT_FALSE(index->find(added[i].key.substr(0, added[i].key.size() - 1)));
  }
  EXPECT_EQ(index->lower_bound(""), 0U);
  EXPECT_EQ(index->lower_bound("zebra"), index->size());
}
INSTANTIATE_TEST_SUITE_P(Sizes, ObjectIndexTest,
                         ::testing::Values(0, 1, 15, 16, 17, 31, 32, 33, 200));

// A folder's objects are passed over, not walked; the answer is that of the store itself.
TEST_F(SnapshotTest, AListingOfTheIndexIsThatOfTheStore) {
  fill("root.txt", "beside the folders");
  fill("a/b/c/d", "deep");
  const auto snapshot = keep(SnapshotUse::refresh, {});
  const auto view = make_snapshot_store(store_, snapshot);
  for (const bool by_folder : {false, true}) {
    for (const std::string prefix : {"", "a", "a/", "a/b", "a-b/", "cat/00", "none", "root.txt"}) {
      for (const std::string after : {"", "a/1.jpg", "cat/010.jpg", "zzz"}) {
        const auto all = [&](Store& store) {
          std::vector<std::string> names;
          const ListRequest request{.prefix = prefix, .by_folder = by_folder, .start_after = after};
          EXPECT_TRUE(store.list(request, {}, [&](ListPage&& page) -> Result<bool> {
            for (const auto& object : page.objects) names.push_back(object.key);
            for (const auto& folder : page.folders) names.push_back(folder);
            return true;
          }));
          std::ranges::sort(names);
          return names;
        };
        if (by_folder && !after.empty()) continue;  // which folders start_after leaves is not said
        EXPECT_EQ(all(*view), all(memory_)) << prefix << " after " << after << by_folder;
      }
    }
  }
}

}  // namespace
}  // namespace headrace
