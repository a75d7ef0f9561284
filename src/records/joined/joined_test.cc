// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/joined/joined.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "headrace/records/folder/folder.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

/// A set in memory, and what it stands on.
struct Opened {
  std::unique_ptr<MemoryStore> store = std::make_unique<MemoryStore>();
  std::unique_ptr<Dataset> set;

  void open(const OpenOptions& options = {}) {
    auto opened = open_dataset(*store, {}, options);
    ASSERT_TRUE(opened.ok()) << opened.error().to_string();
    set = *std::move(opened);
  }
};

Opened folder(const std::vector<std::string>& keys, const OpenOptions& options = {}) {
  Opened made;
  for (const auto& key : keys) EXPECT_TRUE(put(*made.store, key, as_byte_span(key), {}));
  made.open(options);
  return made;
}

/// A .rec with these labels; with a class list if there are names.
Opened records(const std::vector<float>& labels, const std::string& names = {}) {
  Opened made;
  std::vector<std::byte> file;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto header = recordio::image_header(std::span(&labels[i], 1), i);
    EXPECT_TRUE(recordio::append_frame(header, as_byte_span(fmt::format("p{}", i)), file));
  }
  EXPECT_TRUE(put(*made.store, "a.rec", file, {}));
  if (!names.empty()) {
    EXPECT_TRUE(put(*made.store, "classes.txt", as_byte_span(names), {}));
  }
  made.open();
  return made;
}

Result<std::unique_ptr<Dataset>> join(const std::vector<const Opened*>& sets) {
  std::vector<SetToJoin> all;
  for (const Opened* one : sets) all.push_back({one->set.get(), fmt::format("set{}", all.size())});
  return join_sets(all);
}

Sample sample(const std::vector<const Opened*>& sets, const Dataset& joined, std::uint64_t id) {
  const auto member = member_of(joined, SampleId{id});
  for (const Opened* one : sets) {
    if (one->set.get() != &member.set) continue;
    const Extent extent = joined.locate(SampleId{id});
    const auto read = read_now(*one->store, {.key = extent.key, .range = extent.range});
    EXPECT_TRUE(read.ok());
    auto parsed = joined.parse(SampleId{id}, read->bytes);
    EXPECT_TRUE(parsed.ok());
    return *std::move(parsed);
  }
  ADD_FAILURE() << "no member has sample " << id;
  return {};
}

TEST(Joined, FoldersAndRecordsGoTogetherByClassNames) {
  const Opened first = folder({"cat/1.jpg", "dog/2.jpg"});
  const Opened second = records({1, 0, 1}, "fox\ncat\n");  // its own numbers: fox 0, cat 1
  const std::vector<const Opened*> sets = {&first, &second};
  const auto joined = join(sets);
  ASSERT_TRUE(joined.ok()) << joined.error().to_string();
  const Dataset& set = **joined;
  EXPECT_EQ(set.classes(), (std::vector<std::string>{"cat", "dog", "fox"}));
  EXPECT_EQ(set.size(), 5U);
  EXPECT_EQ(set.format(), "joined");
  EXPECT_EQ(member_sizes(set), (std::vector<std::uint64_t>{2, 3}));
  const std::vector<float> labels = {0, 1, 0, 2, 0};
  for (std::uint64_t id = 0; id < 5; ++id)
    EXPECT_EQ(sample(sets, set, id).labels, std::vector{labels[id]}) << id;
  EXPECT_EQ(sample(sets, set, 3).payload.text(), "p1");
  EXPECT_EQ(set.name(SampleId{1}), "set0: dog/2.jpg");
  EXPECT_EQ(set.name(SampleId{3}), "set1: " + second.set->name(SampleId{1}));
  EXPECT_EQ(member_of(set, SampleId{3}).uri, "set1");
  EXPECT_EQ(member_of(set, SampleId{3}).id, SampleId{1});
  EXPECT_EQ(set.label(SampleId{1}), 1.0F);
  EXPECT_EQ(set.label(SampleId{3}),
            second.set->label(SampleId{1}).has_value() ? std::optional(2.0F) : std::nullopt);
}

TEST(Joined, NumbersAloneStayAsTheyAre) {
  const Opened first = records({7, 3});
  const Opened second = records({7, 1});
  const auto joined = join({&first, &second});
  ASSERT_TRUE(joined.ok());
  EXPECT_TRUE((*joined)->classes().empty());
  EXPECT_EQ((*joined)->format(), "recordio");
  EXPECT_EQ(sample({&first, &second}, **joined, 3).labels, std::vector{1.0F});
}

TEST(Joined, NamesAndNumbersDoNotMix) {
  const Opened first = folder({"cat/1.jpg"});
  const Opened second = records({0});
  const auto joined = join({&first, &second});
  ASSERT_FALSE(joined.ok());
  EXPECT_EQ(joined.error().code(), Code::invalid);
  EXPECT_NE(joined.error().to_string().find("set0 has class names and set1 only numbers"),
            std::string::npos);
}

TEST(Joined, ATrainingSetsListKeepsItsOrder) {
  const OpenOptions authority{.classes = {"zebra", "cat", "dog"}};
  const Opened first = folder({"cat/1.jpg"}, authority);
  const Opened second = folder({"zebra/1.jpg"}, authority);
  const auto joined = join({&first, &second});
  EXPECT_EQ((*joined)->classes(), authority.classes);
  EXPECT_EQ(sample({&first, &second}, **joined, 1).labels, std::vector{0.0F});
}

TEST(Joined, FingerprintTellsSetsTheirOrderAndTheirClasses) {
  const Opened first = folder({"cat/1.jpg"});
  const Opened second = folder({"dog/1.jpg"});
  const Hash128 base = (*join({&first, &second}))->fingerprint();
  EXPECT_EQ((*join({&first, &second}))->fingerprint(), base);
  EXPECT_NE((*join({&second, &first}))->fingerprint(), base);
  EXPECT_NE((*join({&first, &first}))->fingerprint(), base);
}

TEST(Joined, DamageStaysTheSamplesOwn) {
  const Opened first = records({0});
  Opened second;
  EXPECT_TRUE(put(*second.store, "b.rec", as_byte_span("these are no records at all"), {}));
  second.open({.format = "recordio"});
  const auto joined = join({&first, &second});
  ASSERT_FALSE((*joined)->damage().empty());
  EXPECT_EQ((*joined)->damage()[0].key, "set1: b.rec");
  const auto parsed = (*joined)->parse(SampleId{1}, Bytes::copy_of("x"));
  ASSERT_FALSE(parsed.ok());
  EXPECT_NE(parsed.error().to_string().find("set1"), std::string::npos);
}

}  // namespace
}  // namespace headrace
