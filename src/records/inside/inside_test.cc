// SPDX-License-Identifier: Apache-2.0
// Sets as other formats hold them, seen as folders: names, sizes, bytes, digests.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "headrace/records/convert/convert.h"
#include "headrace/records/inside/names.h"
#include "headrace/records/inside/set_store.h"
#include "headrace/records/verify/verify.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Keeps what it is given, in memory.
class SideMap final : public SideStore {
 public:
  Result<std::optional<Bytes>> get(const SideKey& key) override {
    const auto found = all.find(key.kind);
    if (found == all.end()) return std::optional<Bytes>();
    ++hits;
    return std::optional(found->second);
  }
  Result<void> put(const SideKey& key, ByteSpan bytes) override {
    all[key.kind] = Bytes::copy_of(bytes);
    return {};
  }
  std::map<std::string, Bytes> all;
  int hits = 0;
};

class InsideTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::string magic("\x0a\x23\xd7\xce", 4);
    for (int i = 0; i < 60; ++i) {
      std::string picture = fmt::format("\xff\xd8\xff picture {} {}", i,
                                        std::string(static_cast<std::size_t>(i * 17 % 40), 'x'));
      // A record that holds the magic is split: such a picture does not lie in its frame as it is.
      if (i % 5 == 0) picture += std::string((4 - picture.size() % 4) % 4, '.') + magic + "end";
      const auto key = fmt::format("{}/{:02}.jpg",
                                   i % 3 == 0   ? "ant"
                                   : i % 3 == 1 ? "bee"
                                                : "cow",
                                   i);
      ASSERT_TRUE(put(folder_, key, as_byte_span(picture), {}));
      pictures_[key] = picture;
    }
  }

  void pack(const ConvertOptions& options) {
    const auto set = open_dataset(folder_, context_, {});
    ASSERT_TRUE(set);
    const auto report = convert(folder_, **set, packed_, options, context_);
    ASSERT_TRUE(report) << report.error().to_string();
  }

  struct Inside {
    std::unique_ptr<Dataset> set;
    std::unique_ptr<Store> store;
  };
  Result<Inside> open(const NamingOptions& options = {}) {
    Inside inside;
    HEADRACE_TRY(inside.set, open_dataset(packed_, context_, {}));
    HEADRACE_TRY(auto names, name_samples(packed_, *inside.set, options, context_));
    inside.store = make_set_store(packed_, *inside.set, std::move(names));
    return inside;
  }

  static std::map<std::string, std::string> contents(Store& store) {
    std::map<std::string, std::string> all;
    const auto infos = list_all(store, "", {});
    EXPECT_TRUE(infos);
    for (const auto& info : *infos) {
      const auto read = read_now(store, {.key = info.key, .pin = info.pin});
      EXPECT_TRUE(read) << read.error().to_string();
      EXPECT_EQ(read->bytes.size(), info.size);
      all[info.key] = read->bytes.text();
    }
    return all;
  }

  static Hash128 set_digest(Store& store) {
    const Context context;
    const auto set = open_dataset(store, context, {});
    EXPECT_TRUE(set) << set.error().to_string();
    const auto report = verify(store, **set, {}, context);
    EXPECT_TRUE(report);
    return report->set_digest;
  }

  std::vector<std::string> notices() const {
    std::vector<std::string> kinds;
    for (const Notice& notice : context_.notices->all()) kinds.push_back(notice.kind);
    return kinds;
  }

  Context context_;
  MemoryStore folder_{"memory://folder"};
  MemoryStore packed_{"memory://packed"};
  std::map<std::string, std::string> pictures_;
};

TEST_F(InsideTest, ARecordIOFileReadsAsAFolderWithTheSameDigest) {
  pack({.key = "x", .shards = 2});
  const auto inside = open();
  ASSERT_TRUE(inside) << inside.error().to_string();
  const auto seen = contents(*inside->store);
  EXPECT_EQ(seen.size(), pictures_.size());
  EXPECT_EQ(seen.begin()->first, "ant/0000000000.jpg");  // it has no names, so numbers
  EXPECT_EQ(set_digest(*inside->store), set_digest(packed_));
  EXPECT_EQ(set_digest(*inside->store), set_digest(folder_));
}

TEST_F(InsideTest, ATarKeepsItsNames) {
  for (const std::string compression : {"", "gzip"}) {
    MemoryStore fresh("memory://tar" + compression);
    const auto set = open_dataset(folder_, context_, {});
    ASSERT_TRUE(set);
    ASSERT_TRUE(convert(folder_, **set, fresh, {.format = "tar", .key = "x"}, context_));
    const auto tar = open_dataset(fresh, context_, {});
    ASSERT_TRUE(tar);
    auto names = name_samples(fresh, **tar, {}, context_);
    ASSERT_TRUE(names) << names.error().to_string();
    const auto inside = make_set_store(fresh, **tar, *std::move(names));
    EXPECT_EQ(contents(*inside), pictures_);
  }
}

TEST_F(InsideTest, WhatAConversionToAFolderWritesIsWhatIsSeen) {
  for (const std::string format : {"recordio", "tfrecord", "tar", "mds", "protobuf"}) {
    MemoryStore fresh("memory://" + format);
    MemoryStore written("memory://written");
    const auto set = open_dataset(folder_, context_, {});
    ASSERT_TRUE(set);
    ASSERT_TRUE(convert(folder_, **set, fresh, {.format = format, .key = "x"}, context_)) << format;
    const auto container = open_dataset(fresh, context_, {});
    ASSERT_TRUE(container) << format;
    ASSERT_TRUE(convert(fresh, **container, written, {.format = "folder", .key = "x"}, context_));
    auto names = name_samples(fresh, **container, {}, context_);
    ASSERT_TRUE(names) << format << names.error().to_string();
    const auto inside = make_set_store(fresh, **container, *std::move(names));
    EXPECT_EQ(contents(*inside), contents(written)) << format;
  }
}

TEST_F(InsideTest, ASetOfWholeObjectsIsNamedWithoutAReadOfThem) {
  ASSERT_TRUE(put(folder_, "x.lst", as_byte_span("0\t1\tbee/01.jpg\n1\t0\tant/00.jpg\n"), {}));
  const auto set = open_dataset(folder_, context_, {.list = "x.lst"});
  ASSERT_TRUE(set) << set.error().to_string();
  const auto names = name_samples(folder_, **set, {}, context_);
  ASSERT_TRUE(names) << names.error().to_string();
  ASSERT_EQ(names->size(), 2U);
  EXPECT_EQ(names->key(0), "0000/ant/00.jpg");
  EXPECT_EQ(names->key(1), "0001/bee/01.jpg");
  EXPECT_EQ(names->place(1).bytes, pictures_["bee/01.jpg"].size());
}

TEST_F(InsideTest, DamageIsAnErrorOrHiddenAndCounted) {
  pack({.key = "x"});
  auto content = std::string(read_now(packed_, {.key = "x.rec"})->bytes.text());
  content[4] = '\x7f';  // the first record's length, far beyond the file
  content[7] = '\x1f';
  ASSERT_TRUE(put(packed_, "x.rec", as_byte_span(content), {}));
  const auto refused = open();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), Code::corrupt);
  EXPECT_THAT(refused.error().to_string(), HasSubstr("x.rec"));
  SideMap side;
  const auto inside = open({.skip_bad = true, .side_store = &side});
  ASSERT_TRUE(inside) << inside.error().to_string();
  EXPECT_EQ(contents(*inside->store).size(), pictures_.size() - 1);
  EXPECT_THAT(notices(), ::testing::Contains("hidden-samples"));
  EXPECT_FALSE(side.all.contains("inside-names"));  // what is hidden is said each time
}

TEST_F(InsideTest, TwoSamplesOfOneNameAreRefused) {
  ASSERT_TRUE(put(folder_, "x.lst", as_byte_span("0\t0\tant/00.jpg\n1\t0\tant/00.jpg\n"), {}));
  const auto set = open_dataset(folder_, context_, {.list = "x.lst"});
  ASSERT_TRUE(set);
  const auto names = name_samples(folder_, **set, {}, context_);
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().code(), Code::invalid);
  EXPECT_THAT(names.error().to_string(),
              HasSubstr("two samples would be called \"0000/ant/00.jpg\""));
}

TEST_F(InsideTest, NamesThatWereKeptAreFoundAgain) {
  pack({.key = "x"});
  SideMap side;
  const auto first = open({.side_store = &side});
  ASSERT_TRUE(first);
  ASSERT_TRUE(side.all.contains("inside-names"));
  const auto second = open({.side_store = &side});
  ASSERT_TRUE(second);
  EXPECT_EQ(side.hits, 1);
  EXPECT_EQ(contents(*first->store), contents(*second->store));
}

TEST_F(InsideTest, KeptNamesThatAreNotWholeAreFoundOutAnew) {
  pack({.key = "x"});
  SideMap side;
  ASSERT_TRUE(open({.side_store = &side}));
  const Bytes whole = side.all["inside-names"];
  const auto samples = pictures_.size();
  ASSERT_TRUE(SampleNames::from_bytes(whole.span(), samples)->has_value());
  EXPECT_FALSE(SampleNames::from_bytes(whole.span(), samples + 1)->has_value());
  for (std::size_t cut = 0; cut < whole.size(); cut += 7)
    EXPECT_FALSE(SampleNames::from_bytes(whole.span().first(cut), samples)->has_value()) << cut;
  for (std::size_t at = 16; at < 16 + samples * 26; at += 26) {
    auto wrong = Bytes::copy_of(whole.text());
    std::string text(wrong.text());
    text[at + 7] = '\x7f';  // an id beyond the set
    EXPECT_FALSE(SampleNames::from_bytes(as_byte_span(text), samples)->has_value()) << at;
  }
}

TEST_F(InsideTest, ClassesWithoutSamplesAreNumberedAnewAndSaid) {
  ASSERT_TRUE(put(packed_, "x.lst", as_byte_span("0\t0\ta.jpg\n1\t2\tb.jpg\n"), {}));
  for (const std::string key : {"a.jpg", "b.jpg"})
    ASSERT_TRUE(put(packed_, key, as_byte_span("x"), {}));
  const auto set = open_dataset(packed_, context_, {.list = "x.lst"});
  ASSERT_TRUE(set);
  ASSERT_TRUE(name_samples(packed_, **set, {}, context_));
  EXPECT_THAT(notices(), ElementsAre("labels-changed"));
}

}  // namespace
}  // namespace headrace
