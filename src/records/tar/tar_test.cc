// SPDX-License-Identifier: Apache-2.0
// Rules of names and labels; the scan against damage at every byte. Whole files: vectors_test.cc.
#include "headrace/records/tar/tar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "headrace/records/scan.h"
#include "headrace/records/tar/names.h"
#include "headrace/records/tar/pax.h"
#include "headrace/records/tar/sample.h"
#include "headrace/records/tar/walk.h"
#include "headrace/records/testing/test_data.h"
#include "headrace/storage/memory/memory_side_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace::tar {
namespace {

std::string block(const std::string& name, const std::string& data, char type = '0') {
  std::string header(kBlock, '\0');
  header.replace(0, name.size(), name);
  header.replace(124, 11, fmt::format("{:011o}", data.size()));
  header[156] = type;
  header.replace(257, 8,
                 std::string("ustar\0"
                             "00",
                             8));
  header.replace(148, 8, "        ");
  unsigned sum = 0;
  for (const char byte : header) sum += static_cast<unsigned char>(byte);
  header.replace(148, 8, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  std::string all = header + data;
  all.resize(padded(all.size()), '\0');
  return all;
}

std::string sample(int number) {
  return block(fmt::format("s/{}.cls", number), std::to_string(number)) +
         block(fmt::format("s/{}.jpg", number), std::string(1200, static_cast<char>('a' + number)));
}

const std::string kEnd(1024, '\0');

std::unique_ptr<Dataset> open(MemoryStore& store, const std::string& content) {
  EXPECT_TRUE(put(store, "x.tar", as_byte_span(content), {}));
  auto set = open_tar(store, {}, {});
  EXPECT_TRUE(set) << set.error().to_string();
  return *std::move(set);
}

Result<Sample> read(MemoryStore& store, const Dataset& set, std::uint64_t id) {
  const Extent extent = set.locate(SampleId{id});
  const auto got = read_now(store, {.key = extent.key, .range = extent.range, .pin = extent.pin});
  EXPECT_TRUE(got);
  return set.parse(SampleId{id}, got->bytes);
}

TEST(TarNames, AreSplitAtTheFirstDotOfTheBaseName) {
  const auto split = [](std::string_view name) {
    const auto member = split_name(name);
    return member ? fmt::format("{}|{}", member->key, member->field) : std::string("none");
  };
  EXPECT_EQ(split("a/b.seg.PNG"), "a/b|seg.png");
  EXPECT_EQ(split("a.b/c.jpg"), "a.b/c|jpg");
  EXPECT_EQ(split("./s.cls"), "./s|cls");
  EXPECT_EQ(split("trailing."), "trailing|");
  EXPECT_EQ(split("x/.hidden.jpg"), "x/|hidden.jpg");
  EXPECT_EQ(split("a.b/.hidden.jpg"), "none");
  EXPECT_EQ(split("./.hidden.jpg"), "none");
  EXPECT_EQ(split("/.hidden.jpg"), "/|hidden.jpg");
  EXPECT_EQ(split("a//.hidden.jpg"), "a//|hidden.jpg");
  EXPECT_EQ(split(".top.jpg"), "none");
  EXPECT_EQ(split("a.b/nodot"), "none");
  EXPECT_EQ(split("__meta__"), "none");
  EXPECT_EQ(split("__dir__/k.jpg"), "none");
  EXPECT_EQ(split("sub/__m__.jpg"), "sub/__m__|jpg");
  EXPECT_EQ(split("sub/._7.jpg"), "none");
  EXPECT_EQ(split("sub/.DS_Store"), "none");
  EXPECT_EQ(split(""), "none");
}

TEST(TarLabels, ClsIsAWholeNumberAsPythonReadsIt) {
  EXPECT_EQ(parse_cls("12\n"), 12.0F);
  EXPECT_EQ(parse_cls(" +1_000 "), 1000.0F);
  EXPECT_EQ(parse_cls("-007"), -7.0F);
  for (const char* bad : {"", " ", "1__0", "_1", "1_", "1 2", "12.0", "1e3", "0x10", "--1", "cat"})
    EXPECT_FALSE(parse_cls(bad)) << bad;
}

TEST(TarLabels, StandInJsonToo) {
  MemoryStore store;
  const auto set = open(store, block("1.jpg", "J") + block("1.json", R"({"x":0,"label":3})") +
                                   block("2.jpg", "J") + block("2.json", R"({"cls":[1,2]})") +
                                   block("3.jpg", "J") + block("3.json", R"({"label":"cat"})") +
                                   block("4.jpg", "J") + block("4.json", "{") +
                                   block("5.jpg", "J") + block("5.json", "{}") + kEnd);
  ASSERT_EQ(set->size(), 5U);
  EXPECT_EQ(read(store, *set, 0)->labels, std::vector<float>{3});
  EXPECT_EQ(read(store, *set, 1)->labels, (std::vector<float>{1, 2}));
  for (std::uint64_t id = 2; id < 5; ++id)
    EXPECT_EQ(read(store, *set, id).error().code(), Code::corrupt) << id;
}

TEST(TarSamples, WhatIsMissingIsSaidWithWhatIsThere) {
  MemoryStore store;
  const auto set =
      open(store, block("1.jpg", "J") + block("2.cls", "2") + block("1.cls", "1") +
                      block("3.left.jpg", "L") + block("3.right.jpg", "R") + block("3.cls", "3") +
                      block("4.cls", "4") + block("4.jpg", "", '2') + block("5.left.jpg", "L") +
                      block("5.cls", "5") + kEnd);
  ASSERT_EQ(set->size(), 6U);
  const auto why = [&](std::uint64_t id) { return read(store, *set, id).error().to_string(); };
  EXPECT_NE(why(0).find("sample \"1\" has no label, its fields: jpg"), std::string::npos) << why(0);
  EXPECT_NE(why(0).find("side by side"), std::string::npos);
  EXPECT_NE(why(1).find("sample \"2\" has no picture, its fields: cls"), std::string::npos);
  EXPECT_NE(why(3).find("several pictures, its fields: cls, left.jpg, right.jpg"),
            std::string::npos);
  EXPECT_NE(why(4).find("\"4.jpg\" is a link"), std::string::npos) << why(4);
  EXPECT_EQ(read(store, *set, 5)->payload.text(), "L");
}

// webdataset makes one sample of them all, and says nothing.
TEST(TarSamples, FilesThatADotInTheirStemMergesAreNamed) {
  MemoryStore store;
  const auto set = open(store, block("img.0001.jpg", "1") + block("img.0002.jpg", "2") + kEnd);
  ASSERT_EQ(set->size(), 1U);
  const auto why = read(store, *set, 0).error().to_string();
  EXPECT_NE(why.find("several pictures, its fields: 0001.jpg, 0002.jpg"), std::string::npos) << why;
  EXPECT_NE(why.find("rename them"), std::string::npos) << why;
}

// Readers that only compare neighbours hand out both (ray#44068).
TEST(TarSamples, AKeyThatComesAgainIsNamedEvenWithAWholeSample) {
  MemoryStore store;
  const std::string content =
      sample(1) + sample(2) + sample(1) + sample(3) + sample(2) + sample(1) + kEnd;
  const auto set = open(store, content);
  ASSERT_EQ(set->size(), 6U);
  EXPECT_TRUE(set->damage().empty());
  for (const std::uint64_t id : {0U, 1U, 3U}) EXPECT_TRUE(read(store, *set, id)) << id;
  for (const std::uint64_t id : {2U, 4U, 5U}) {
    const auto again = read(store, *set, id);
    ASSERT_FALSE(again) << id;
    EXPECT_EQ(again.error().code(), Code::corrupt);
    const std::string key = id == 4 ? "\"s/2\"" : "\"s/1\"";
    EXPECT_NE(again.error().to_string().find(key), std::string::npos) << again.error().to_string();
  }
}

TEST(TarSamples, AKeyThatComesAgainIsKnownWithoutAScan) {
  MemoryStore store;
  MemorySideStore kept;
  const std::string content = sample(1) + sample(2) + sample(1) + kEnd;
  ASSERT_TRUE(put(store, "x.tar", as_byte_span(content), {}));
  for (const char* source : {"scan", "side-store"}) {
    const auto set = open_tar(store, {}, {.side_store = &kept});
    ASSERT_TRUE(set) << set.error().to_string();
    EXPECT_EQ((*set)->index_source(), source);
    EXPECT_TRUE(read(store, **set, 0));
    EXPECT_FALSE(read(store, **set, 2));
  }
}

TEST(TarSamples, OneKeyInTwoTarsIsTwoSamples) {
  MemoryStore store;
  ASSERT_TRUE(put(store, "x-0.tar", as_byte_span(sample(1) + kEnd), {}));
  ASSERT_TRUE(put(store, "x-1.tar", as_byte_span(sample(1) + kEnd), {}));
  const auto set = open_tar(store, {}, {});
  ASSERT_TRUE(set) << set.error().to_string();
  ASSERT_EQ((*set)->size(), 2U);
  EXPECT_TRUE(read(store, **set, 0));
  EXPECT_TRUE(read(store, **set, 1));
}

TEST(TarSamples, FoldersAndJunkMakeNoSampleAndCutNone) {
  MemoryStore store;
  const auto set =
      open(store, block("s/", "", '5') + block("s/1.cls", "1") + block("s/._1.jpg", "junk") +
                      block("README", std::string(3000, 'r')) + block("s/1.jpg", "J") +
                      block("t/", "", '5') + block("t/2.jpg", "K") + block("t/2.cls", "2") + kEnd);
  ASSERT_EQ(set->size(), 2U);
  EXPECT_TRUE(set->damage().empty());
  EXPECT_EQ(set->locate(SampleId{0}).range.offset, 512U);
  EXPECT_EQ(read(store, *set, 0)->payload.text(), "J");
  EXPECT_EQ(read(store, *set, 1)->payload.text(), "K");
}

TEST(TarSamples, WithoutAnyTheFirstNamesAreTold) {
  MemoryStore store;
  ASSERT_TRUE(
      put(store, "x.tar", as_byte_span(block("README", "r") + block("a/LICENSE", "l") + kEnd), {}));
  const auto set = open_tar(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_NE(set.error().cause().find("such as \"README\", \"a/LICENSE\""), std::string::npos)
      << set.error().to_string();
}

TEST(Pax, IsReadByLengthAndWrongLengthsAreDamage) {
  const auto pairs = parse_pax(as_byte_span("8 a=b\nc\n12 path=x.y\n"));
  ASSERT_TRUE(pairs) << pairs.error().to_string();
  ASSERT_EQ(pairs->size(), 2U);
  EXPECT_EQ((*pairs)[0].second, "b\nc");
  EXPECT_EQ((*pairs)[1].first, "path");
  for (const char* bad : {"5", "5 a=b", "99 a=b\n", "6 a=b\nx", "0 a=b\n", "6 a-b\n", "x a=b\n"})
    EXPECT_FALSE(parse_pax(as_byte_span(bad))) << bad;
}

TEST(TarNumbers, AreOctalOrBase256) {
  const auto number = [](std::string_view field) { return parse_number(as_byte_span(field)); };
  EXPECT_EQ(*number("   17 \0\0\0\0\0\0"), 15U);
  EXPECT_EQ(*number(std::string_view("\x80\0\0\0\0\0\0\0\0\0\x01\x02", 12)), 258U);
  EXPECT_FALSE(number(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)));
  EXPECT_FALSE(number(std::string_view("\x80\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12)));
  EXPECT_FALSE(number("00000000009"));
}

/// From first to last byte in steps, and at once: the same, however it is cut into stretches.
void expect_scan_is_one_walk(const std::string& content) {
  MemoryStore store;
  ASSERT_TRUE(put(store, "x", as_byte_span(content), {}));
  const auto info = store.head("x", {});
  const auto whole = scan(store, *info, kFraming, {.threads = 1}, {});
  ASSERT_TRUE(whole);
  for (const std::uint64_t stretch : {512U, 1536U, 4096U}) {
    const auto parts = scan(store, *info, kFraming, {.threads = 4, .stretch_bytes = stretch}, {});
    ASSERT_TRUE(parts);
    ASSERT_EQ(parts->frames().size(), whole->frames().size()) << stretch;
    for (std::size_t i = 0; i < whole->frames().size(); ++i)
      EXPECT_EQ(parts->frames()[i].offset, whole->frames()[i].offset) << stretch;
    EXPECT_EQ(parts->damage(), whole->damage());
    EXPECT_EQ(parts->repeats(), whole->repeats()) << stretch;
  }
}

TEST(TarScan, StretchesMakeNoDifference) {
  std::string content = block("s/", "", '5');
  for (int i = 0; i < 8; ++i) content += sample(i) + (i == 5 ? kEnd : "") + block("none", "n");
  expect_scan_is_one_walk(content + kEnd);
  expect_scan_is_one_walk(content + content + sample(3) + kEnd);
  expect_scan_is_one_walk(block("t/1.tar", content + kEnd) + block("t/1.cls", "1") + content);
  content[512 * 9 + 3] ^= 1;
  expect_scan_is_one_walk(content + kEnd + kEnd);
}

TEST(TarDamage, ACutAtAnyByteLosesOnlyWhatIsNotThere) {
  const std::string content = sample(0) + sample(1) + sample(2);
  const std::uint64_t each = sample(0).size();
  for (std::size_t length = 1; length < content.size(); length += 37) {
    SCOPED_TRACE(length);
    MemoryStore store;
    const auto set = open(store, content.substr(0, length));
    ASSERT_FALSE(set->damage().empty());
    EXPECT_EQ(set->damage().back().damage.end, length);
    for (std::uint64_t id = 0; id < length / each; ++id) {
      const auto found = read(store, *set, id);
      ASSERT_TRUE(found) << found.error().to_string();
      EXPECT_EQ(found->labels, std::vector<float>{static_cast<float>(id)});
    }
    for (std::uint64_t id = length / each; id < set->size(); ++id) {
      const auto found = read(store, *set, id);
      // The last picture may be whole, though its padding is not.
      EXPECT_TRUE(!found || found->payload.size() == 1200);
    }
  }
}

}  // namespace
}  // namespace headrace::tar
