// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/list/list.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/records/list/rows.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/local/local_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kVectors = HEADRACE_TEST_DATA "/vectors/mxnet/";

struct Found {
  std::vector<std::string> names;
  std::vector<std::vector<float>> labels;
  std::vector<std::string> classes;
  std::string format;
  std::string error;
};

Found open(MemoryStore& store, const std::string& name, const std::string& content,
           const std::vector<std::string>& classes = {}) {
  EXPECT_TRUE(put(store, name, as_byte_span(content), {}));
  const auto set = open_dataset(store, {}, {.list = name, .classes = classes});
  Found found;
  if (!set) {
    found.error = set.error().to_string();
    return found;
  }
  for (std::uint64_t i = 0; i < (*set)->size(); ++i) {
    found.names.push_back((*set)->name(SampleId{i}));
    found.labels.push_back((*set)->parse(SampleId{i}, {})->labels);
    EXPECT_EQ((*set)->locate(SampleId{i}).key, found.names.back());
  }
  found.classes = (*set)->classes();
  found.format = (*set)->format();
  return found;
}

class ListTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto* key : {"cat/1.jpg", "cat/2.jpg", "dog/1.jpg", "dog/a,b \"c\".jpg"})
      ASSERT_TRUE(put(store_, key, as_byte_span(key), {}));
  }
  MemoryStore store_{"s3://b/p"};
};

TEST_F(ListTest, LstIsInTheOrderOfPathsWithAllLabels) {
  const auto found =
      open(store_, "a.lst", "9\t2\tdog/1.jpg\n\n3\t1\t2.5\t-3\tcat/2.jpg\r\n1\t 0 \t cat/1.jpg ");
  EXPECT_EQ(found.error, "");
  EXPECT_EQ(found.format, "lst");
  EXPECT_THAT(found.names, ElementsAre("cat/1.jpg", "cat/2.jpg", "dog/1.jpg"));
  EXPECT_THAT(found.labels, ElementsAre(ElementsAre(0), ElementsAre(1, 2.5, -3), ElementsAre(2)));
}

TEST_F(ListTest, LstErrorsHaveLineAndField) {
  EXPECT_THAT(open(store_, "a.lst", "0\t1\tcat/1.jpg\nonly two\tcolumns\n").error,
              HasSubstr("a.lst, line 2: 2 of at least 3 fields"));
  EXPECT_THAT(open(store_, "a.lst", "x\t1\tcat/1.jpg\n").error,
              HasSubstr("line 1: field 1: \"x\" is no number"));
  EXPECT_THAT(open(store_, "a.lst", "0\t1\tone\tcat/1.jpg\n").error,
              HasSubstr("line 1: field 3: label \"one\" is no number"));
  EXPECT_THAT(open(store_, "a.lst", "0\t1\t\n").error, HasSubstr("field 3: the path is empty"));
  EXPECT_THAT(open(store_, "a.lst", "\n").error, HasSubstr("names no sample"));
}

TEST_F(ListTest, MissingObjectIsNamedWithItsLine) {
  const auto found = open(store_, "a.lst", "0\t0\tcat/1.jpg\n1\t0\tcat/3.jpg\n");
  EXPECT_THAT(found.error, HasSubstr("a.lst, line 2: s3://b/p/cat/3.jpg: no such object"));
}

/// Of S3: "cat/2.jpg" lies in an archive.
class Archive final : public ForwardingStore<> {
 public:
  using ForwardingStore::ForwardingStore;
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    HEADRACE_TRY(auto object, below().head(key, stop));
    object.archived = key == "cat/2.jpg";
    return object;
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return below().list(request, stop, [&sink](ListPage&& page) {
      for (auto& object : page.objects) object.archived = object.key == "cat/2.jpg";
      return sink(std::move(page));
    });
  }
};

TEST_F(ListTest, AnArchivedObjectIsAnErrorBeforeAnythingIsRead) {
  Archive archive(store_);
  // Few are asked for one by one, many are listed: with what the list does not name.
  for (const int more : {0, 1000}) {
    std::string others;
    std::string names;
    for (int i = 0; i < more; ++i) {
      const std::string key = fmt::format("cat/{}.jpg", 10 + i);
      ASSERT_TRUE(put(store_, key, as_byte_span(key), {}));
      others += fmt::format("{}\t0\t{}\n", i, key);
      names += fmt::format(",\"{}\"", key);
    }
    const auto open_list = [&](const std::string& name, const std::string& text) {
      EXPECT_TRUE(put(store_, name, as_byte_span(text), {}));
      const auto set = open_dataset(archive, {}, {.list = name});
      return set ? "" : set.error().to_string();
    };
    EXPECT_EQ(open_list("a.lst", "0\t0\tcat/1.jpg\n" + others), "");
    for (const auto& error : {open_list("a.lst", "0\t0\tcat/1.jpg\n1\t0\tcat/2.jpg\n" + others),
                              open_list("a.manifest",
                                        "[{\"prefix\":\"s3://b/p/\"},\"cat/1.jpg\","
                                        "\"cat/2.jpg\"" +
                                            names + "]")}) {
      EXPECT_THAT(error, HasSubstr("s3://b/p/cat/2.jpg: the object is archived"));
    }
  }
}

TEST_F(ListTest, MissingListIsNotFound) {
  const auto set = open_dataset(store_, {}, {.list = "no.lst"});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_EQ(set.error().place(), "no.lst");
}

TEST_F(ListTest, TheSamePathTwiceIsTwoSamples) {
  const auto found = open(store_, "a.lst", "0\t5\tcat/1.jpg\n1\t4\tcat/1.jpg\n");
  EXPECT_THAT(found.labels, ElementsAre(ElementsAre(5), ElementsAre(4)));
}

TEST_F(ListTest, CsvWithNumbers) {
  const auto found = open(store_, "a.csv", "dog/1.jpg,1\ncat/1.jpg,0\n");
  EXPECT_EQ(found.format, "csv");
  EXPECT_THAT(found.names, ElementsAre("cat/1.jpg", "dog/1.jpg"));
  EXPECT_THAT(found.labels, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_TRUE(found.classes.empty());
}

TEST_F(ListTest, CsvWithNamesHeaderAndQuotes) {
  const auto found = open(store_, "a.csv",
                          "\xEF\xBB\xBFsize,label,path\n7,dog,\"dog/a,b \"\"c\"\".jpg\"\n"
                          "8,cat,cat/1.jpg\n");
  EXPECT_EQ(found.error, "");
  EXPECT_THAT(found.names, ElementsAre("cat/1.jpg", "dog/a,b \"c\".jpg"));
  EXPECT_THAT(found.labels, ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(found.classes, ElementsAre("cat", "dog"));
}

TEST_F(ListTest, CsvErrorsHaveLineAndField) {
  EXPECT_THAT(open(store_, "a.csv", "cat/1.jpg,0\n\"cat/2.jpg,0\n").error,
              HasSubstr("line 2: field 1: the quote does not end"));
  EXPECT_THAT(open(store_, "a.csv", "\"a\"b,0\n").error, HasSubstr("text behind the quote"));
  EXPECT_THAT(open(store_, "a.csv", "cat/1.jpg\n").error, HasSubstr("a label is missing"));
  EXPECT_THAT(open(store_, "a.csv", ",0\n").error, HasSubstr("the path is empty"));
}

TEST_F(ListTest, ClassesOfTheTrainingSetCount) {
  const std::vector<std::string> classes = {"ape", "cat", "dog"};
  EXPECT_THAT(open(store_, "a.csv", "cat/1.jpg,cat\n", classes).labels,
              ElementsAre(ElementsAre(1)));
  EXPECT_THAT(open(store_, "a.csv", "cat/1.jpg,cow\n", classes).error, HasSubstr("\"cow\""));
  EXPECT_THAT(open(store_, "a.csv", "cat/1.jpg,3\n", classes).error,
              HasSubstr("line 1: label 3 is not one of the 3 classes"));
}

TEST_F(ListTest, ManyObjectsAreListed) {
  std::string text;
  for (int i = 999; i >= 0; --i) {
    const auto key = fmt::format("set/{}/{:03}.jpg", i % 7, i);
    ASSERT_TRUE(put(store_, key, as_byte_span("x"), {}));
    text += fmt::format("{},{}\n", key, i);
  }
  const auto found = open(store_, "a.csv", text);
  ASSERT_EQ(found.names.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(found.names));
  EXPECT_EQ(found.names[1], "set/0/007.jpg");
  EXPECT_EQ(found.labels[1][0], 7);
  EXPECT_THAT(open(store_, "b.csv", text + "set/8/x.jpg,1\n").error,
              HasSubstr("line 1001: s3://b/p/set/8/x.jpg: no such object"));
}

TEST_F(ListTest, ListsOfIm2recAreRead) {
  for (const auto* path : {"Cat/c006_staircase.jpg", "Cat/c033_blossom.jpg", "Cat/c065_moss.jpg",
                           "Cat/c084_beanbag.jpg", "top_level.png"})
    ASSERT_TRUE(put(store_, path, as_byte_span(path), {}));
  const auto set = open_dataset(store_, {}, {.list = kVectors + "im2rec_packlabel.lst"});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->size(), 5U);
  EXPECT_EQ((*set)->name(SampleId{4}), "top_level.png");
  EXPECT_THAT((*set)->parse(SampleId{4}, {})->labels, ElementsAre(0, 2.5, -3));
  const auto bad = open_dataset(store_, {}, {.list = kVectors + "im2rec_badlst.lst"});
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().to_string(), HasSubstr("im2rec_badlst.lst, line 4: 2 of at least"));
}

TEST(Rows, KindIsFoundByNameThenByTabs) {
  EXPECT_EQ(list::kind_of("a.csv", "1\t2\t3"), list::Kind::csv);
  EXPECT_EQ(list::kind_of("a", "1\t2\t3"), list::Kind::lst);
  EXPECT_EQ(list::kind_of("a", "a,b"), list::Kind::csv);
}

TEST(Rows, Numbers) {
  EXPECT_EQ(list::to_number(" 1.5 "), 1.5F);
  EXPECT_EQ(list::to_number("+3"), 3.0F);
  EXPECT_EQ(list::to_number("-2e3"), -2000.0F);
  EXPECT_FALSE(list::to_number(""));
  EXPECT_FALSE(list::to_number("1x"));
}

TEST(List, APathThatIsNotThereIsNamedAsTheList) {
  const auto store = make_local_store(testing::TempDir(), {});
  const auto set = open_dataset(*store, {}, {.list = "/no/such/list.lst"});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_THAT(set.error().to_string(),
              HasSubstr("/no/such/list.lst: neither a file nor an object"));
}

}  // namespace
}  // namespace headrace
