// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/folder/folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <map>

#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void fill(Store& store, const std::vector<std::string>& keys) {
  for (const auto& key : keys) ASSERT_TRUE(put(store, key, as_byte_span("content of " + key), {}));
}

std::vector<std::string> names(const Dataset& set) {
  std::vector<std::string> all;
  for (std::uint64_t i = 0; i < set.size(); ++i) all.push_back(set.name(SampleId{i}));
  return all;
}

std::vector<float> labels(const Dataset& set) {
  std::vector<float> all;
  for (std::uint64_t i = 0; i < set.size(); ++i) {
    all.push_back(set.parse(SampleId{i}, Bytes::copy_of("x"))->labels.at(0));
  }
  return all;
}

std::map<std::string, std::uint64_t> notices(const Context& context) {
  std::map<std::string, std::uint64_t> counts;
  for (const auto& notice : context.notices->all()) counts[notice.kind] = notice.count;
  return counts;
}

/// A listing that a server could give: any order, repeats, archived objects, made as it is asked.
class ListedStore final : public Store {
 public:
  std::vector<ObjectInfo> objects;  ///< in the server's own order
  std::uint64_t generated = 0;      ///< also `cat/00000000` … of 7 bytes

  std::string describe() const override { return "s3://b/p"; }
  Result<ObjectInfo> head(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::not_found, "no such object");
  }
  Result<void> list(const ListRequest& request, const std::stop_token& /*stop*/,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    for (const auto& object : objects) {
      if (!object.key.starts_with(request.prefix)) continue;
      const auto slash = object.key.find('/', request.prefix.size());
      ListPage page;
      if (request.by_folder && slash != std::string::npos) {
        page.folders.push_back(object.key.substr(0, slash + 1));
      } else {
        page.objects.push_back(object);
      }
      HEADRACE_TRY(const bool more, sink(std::move(page)));
      if (!more) return {};
    }
    if (request.by_folder && generated != 0) {
      HEADRACE_TRY(sink({.folders = {"cat/"}}));
    } else if (generated != 0 && request.prefix == "cat/") {
      return list_generated(sink);
    }
    return {};
  }
  void read(ReadRequest /*request*/, ReadDone done) override {
    done(Error(Code::not_found, "no such object"));
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& /*key*/,
                                               const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "read-only");
  }
  Result<void> remove(const std::string& /*key*/, const std::stop_token& /*stop*/) override {
    return Error(Code::invalid, "read-only");
  }

 private:
  Result<void> list_generated(const std::function<Result<bool>(ListPage&&)>& sink) const {
    ListPage page;
    for (std::uint64_t i = 0; i < generated; ++i) {
      const Pin pin{.etag = fmt::format("\"{:032x}\"", i), .size = 7};
      page.objects.push_back({.key = fmt::format("cat/{:08}", i), .size = 7, .pin = pin});
      if (page.objects.size() < 1000 && i + 1 < generated) continue;
      HEADRACE_TRY(sink(std::move(page)));
      page = {};
    }
    return {};
  }
};

ObjectInfo object(const std::string& key, const Pin& pin = {.modified_ns = 5, .size = 3}) {
  return {.key = key, .size = pin.size, .pin = pin};
}

TEST(Folder, ClassIsTheFirstPartAndDeeperFilesBelongToIt) {
  MemoryStore store;
  fill(store, {"cat/2.jpg", "cat/10.jpg", "dog/deep/er/1.jpg", "dog/1.jpg"});
  const auto set = open_folder(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_THAT((*set)->classes(), ElementsAre("cat", "dog"));
  EXPECT_THAT(names(**set),
              ElementsAre("cat/10.jpg", "cat/2.jpg", "dog/1.jpg", "dog/deep/er/1.jpg"));
  EXPECT_THAT(labels(**set), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ((*set)->format(), "folder");
}

TEST(Folder, ExtentReadsTheWholeObjectAndThePayloadSharesItsBlock) {
  MemoryStore store;
  fill(store, {"cat/1.jpg"});
  const auto set = open_folder(store, {}, {});
  ASSERT_TRUE(set);
  const Extent extent = (*set)->locate(SampleId{0});
  EXPECT_EQ(extent.range.length, (*set)->frame_bytes(SampleId{0}));
  const auto read = read_now(store, {.key = extent.key, .range = extent.range, .pin = extent.pin});
  ASSERT_TRUE(read);
  const auto sample = (*set)->parse(SampleId{0}, read->bytes);
  ASSERT_TRUE(sample);
  EXPECT_EQ(sample->payload.data(), read->bytes.data());
  EXPECT_EQ(sample->payload.text(), "content of cat/1.jpg");
}

// Keys are sorted with their '/', class names without: "a-b/" < "a/", but "a" < "a-b".
TEST(Folder, CanonicalOrderIsOfKeysAndLabelsAreOfNames) {
  MemoryStore store;
  fill(store, {"a/1", "a-b/1", "A/1", "\xC3\xA9/1", "a.b/1"});
  const auto set = open_folder(store, {}, {});
  ASSERT_TRUE(set);
  EXPECT_THAT((*set)->classes(), ElementsAre("A", "a", "a-b", "a.b", "\xC3\xA9"));
  EXPECT_THAT(names(**set), ElementsAre("A/1", "a-b/1", "a.b/1", "a/1", "\xC3\xA9/1"));
  EXPECT_THAT(labels(**set), ElementsAre(0, 2, 3, 1, 4));
}

// Promise O4: The order in which a server lists its objects does not matter.
TEST(Folder, TheServersOrderAndItsRepeatsDoNotMatter) {
  ListedStore sorted;
  for (const auto* key : {"a/1", "a/2", "b/1", "b/2"}) sorted.objects.push_back(object(key));
  ListedStore mixed;
  for (const auto* key : {"b/2", "a/2", "b/1", "a/1", "b/1"}) mixed.objects.push_back(object(key));
  const Context context;
  const auto one = open_folder(sorted, {}, {});
  const auto other = open_folder(mixed, context, {});
  ASSERT_TRUE(one && other);
  EXPECT_EQ(names(**one), names(**other));
  EXPECT_EQ((*one)->fingerprint(), (*other)->fingerprint());
  EXPECT_EQ(notices(context).at("listed-twice"), 1U);
}

TEST(Folder, FileInTheRootIsAnErrorThatNamesIt) {
  MemoryStore store("s3://b/p");
  fill(store, {"cat/1.jpg", "lost.jpg"});
  const auto set = open_folder(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::invalid);
  EXPECT_EQ(set.error().place(), "s3://b/p/lost.jpg");
}

TEST(Folder, FileInTheRootIsLeftOutOnRequest) {
  MemoryStore store;
  fill(store, {"cat/1.jpg", "lost.jpg", "also.jpg"});
  const Context context;
  const auto set = open_folder(store, context, {.skip_root_files = true});
  ASSERT_TRUE(set);
  EXPECT_THAT(names(**set), ElementsAre("cat/1.jpg"));
  EXPECT_THAT(context.notices->all().at(0).text, HasSubstr("2 files in the root"));
}

TEST(Folder, HiddenAndSystemFilesAreNoSamples) {
  MemoryStore store;
  fill(store, {".DS_Store", "cat/1.jpg", "cat/._1.jpg", "cat/Thumbs.db", ".git/config",
               "cat/.ipynb_checkpoints/1.jpg", "empty/.keep"});
  const Context context;
  const auto set = open_folder(store, context, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_THAT(names(**set), ElementsAre("cat/1.jpg"));
  EXPECT_THAT((*set)->classes(), ElementsAre("cat"));
  EXPECT_THAT(notices(context), testing::Contains(testing::Key("not-a-sample")));
  EXPECT_EQ(notices(context).at("empty-class"), 2U);
}

TEST(Folder, WhatFetchKeepsBesideItsCopyIsNoNews) {
  MemoryStore store;
  fill(store, {"cat/1.jpg", ".headrace/fetched"});
  const Context context;
  const auto set = open_folder(store, context, {});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_THAT((*set)->classes(), ElementsAre("cat"));
  EXPECT_TRUE(context.notices->all().empty());
}

TEST(Folder, EmptyPrefixIsNotFoundAndCountsWhatIsThere) {
  MemoryStore store("s3://b/p");
  fill(store, {"cat/.keep", "stray.txt"});
  const auto set = open_folder(store, {}, {.skip_root_files = true});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_THAT(set.error().cause(), HasSubstr("no samples under s3://b/p, 2 other keys seen"));
}

TEST(Folder, GivenClassesNumberTheLabels) {
  MemoryStore store;
  fill(store, {"cat/1", "dog/1"});
  const Context context;
  const auto set = open_folder(store, context, {.classes = {"ape", "cat", "dog"}});
  ASSERT_TRUE(set);
  EXPECT_THAT((*set)->classes(), ElementsAre("ape", "cat", "dog"));
  EXPECT_THAT(labels(**set), ElementsAre(1, 2));
  EXPECT_EQ(notices(context).at("class-missing"), 1U);
}

// Promise M4: A class that the training set does not have is an error in validation, never a
// wrong label.
TEST(Folder, UnknownClassIsAnErrorThatNamesIt) {
  MemoryStore store;
  fill(store, {"cat/1", "cow/1"});
  const auto set = open_folder(store, {}, {.classes = {"cat", "dog"}});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::invalid);
  EXPECT_THAT(set.error().cause(), HasSubstr("\"cow\""));
}

TEST(Folder, ArchivedObjectIsAnErrorWhenItIsListed) {
  ListedStore store;
  store.objects = {object("cat/1"), object("cat/2")};
  store.objects[1].archived = true;
  const auto set = open_folder(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().place(), "s3://b/p/cat/2");
  EXPECT_THAT(set.error().cause(), HasSubstr("archived"));
}

TEST(Folder, ClassWithoutANameIsAnError) {
  ListedStore store;
  store.objects = {object("/1.jpg")};
  const auto set = open_folder(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::invalid);
}

TEST(Folder, PinsComeBackAsTheyWereListed) {
  const std::vector<Pin> pins = {
      {.etag = "\"0123456789abcdef0123456789abcdef\"",
       .modified_ns = 4'000'000'007'000'000'000,
       .size = 3},
      {.etag = "\"0123456789abcdef0123456789abcdef-12\"", .modified_ns = 7, .size = 3},
      {.etag = "\"0123456789ABCDEF0123456789ABCDEF\"", .size = 3},
      {.etag = "\"0123456789abcdef0123456789abcdef\"", .version = "v1", .size = 3},
      {.version = "v2", .modified_ns = 1, .size = 3},
      {.modified_ns = -1, .size = 3},
      {.etag = "W/\"x\"", .size = 3},
      {.size = 3}};
  ListedStore store;
  for (std::size_t i = 0; i < pins.size(); ++i)
    store.objects.push_back(object(fmt::format("cat/{}", i), pins[i]));
  const auto set = open_folder(store, {}, {});
  ASSERT_TRUE(set);
  for (std::size_t i = 0; i < pins.size(); ++i)
    EXPECT_EQ((*set)->locate(SampleId{i}).pin, pins[i]) << i;
}

TEST(Folder, FingerprintChangesWithWhatIsSeen) {
  const auto fingerprint = [](const std::string& key, const Pin& pin) {
    ListedStore store;
    store.objects = {object(key, pin), object("cat/9")};
    return (*open_folder(store, {}, {}))->fingerprint();
  };
  const auto first = fingerprint("cat/1", {.modified_ns = 1, .size = 3});
  EXPECT_EQ(first, fingerprint("cat/1", {.modified_ns = 1, .size = 3}));
  EXPECT_NE(first, fingerprint("cat/2", {.modified_ns = 1, .size = 3}));
  EXPECT_NE(first, fingerprint("cat/1", {.modified_ns = 2, .size = 3}));
  EXPECT_NE(first, fingerprint("cat/1", {.modified_ns = 1, .size = 4}));
}

TEST(Folder, StopEndsTheListing) {
  ListedStore store;
  store.generated = 100'000;
  std::stop_source source;
  source.request_stop();
  const auto set = open_folder(store, {}, {.stop = source.get_token()});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::cancelled);
}

// Private memory is the same for a thousand samples and for many.
TEST(Folder, HeapDoesNotGrowWithTheNumberOfSamples) {
  ListedStore store;
  store.generated = 300'000;
  const auto before = mallinfo2().uordblks;
  const auto set = open_folder(store, {}, {});
  const auto after = mallinfo2().uordblks;
  ASSERT_TRUE(set);
  EXPECT_EQ((*set)->size(), 300'000U);
  EXPECT_EQ((*set)->name(SampleId{299'999}), "cat/00299999");
  EXPECT_LT(after - std::min(before, after), 1'000'000U);
}

}  // namespace
}  // namespace headrace
