// SPDX-License-Identifier: Apache-2.0
// Columns, numbers, hashes and indexes; whole sets: vectors_test.cc.
#include "headrace/records/mds/mds.h"

#include <gtest/gtest.h>

#include <cmath>

#include "headrace/records/mds/hashes.h"
#include "headrace/records/mds/index.h"
#include "headrace/records/mds/sample.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace::mds {
namespace {

std::vector<float> of(const std::string& encoding, std::string_view bytes) {
  const auto found = numbers({.name = "label", .encoding = encoding}, as_byte_span(bytes));
  if (found) return *found;
  EXPECT_EQ(found.error().code(), Code::corrupt);
  return {};
}

TEST(MdsNumbers, OfEveryEncoding) {
  using namespace std::string_view_literals;
  EXPECT_EQ(of("int", "\xff\xff\xff\xff\xff\xff\xff\xff"sv), std::vector<float>{-1});
  EXPECT_EQ(of("uint8", "\xff"sv), std::vector<float>{255});
  EXPECT_EQ(of("int16", "\x00\x80"sv), std::vector<float>{-32768});
  EXPECT_EQ(of("uint32", "\x01\x00\x01\x00"sv), std::vector<float>{65537});
  EXPECT_EQ(of("float16", "\x00\x3c"sv), std::vector<float>{1});
  EXPECT_EQ(of("float16", "\x55\xb5"sv), std::vector<float>{-0.333251953125F});
  EXPECT_EQ(of("float16", "\x01\x00"sv), std::vector<float>{std::ldexp(1.0F, -24)});
  EXPECT_TRUE(std::isinf(of("float16", "\x00\x7c"sv).at(0)));
  EXPECT_TRUE(std::isnan(of("float16", "\x01\x7c"sv).at(0)));
  EXPECT_EQ(of("float32", "\x00\x00\x80\x3f"sv), std::vector<float>{1});
  EXPECT_EQ(of("float64", "\x00\x00\x00\x00\x00\x00\x00\x40"sv), std::vector<float>{2});
  EXPECT_EQ(of("str_int", "100"), std::vector<float>{100});
  EXPECT_EQ(of("str_decimal", "0.50"), std::vector<float>{0.5});
  EXPECT_EQ(of("ndarray:uint8:2", "\x01\x02"sv), (std::vector<float>{1, 2}));
  for (const char* encoding : {"int", "float16", "str_int", "ndarray:int32:2", "ndarray", "pkl",
                               "ndarray:int32", "ndarray:bool:3", "json", ""})
    EXPECT_TRUE(of(encoding, "cat").empty()) << encoding;
}

TEST(MdsColumns, AreSplitByTheirSizes) {
  const std::vector<Column> columns = {{.name = "a", .encoding = "bytes"},
                                       {.name = "b", .encoding = "uint8", .size = 1}};
  const auto values = split(columns, Bytes::copy_of(std::string_view("\x02\0\0\0xyz", 7)));
  ASSERT_TRUE(values) << values.error().to_string();
  EXPECT_EQ((*values)[0].text(), "xy");
  EXPECT_EQ((*values)[1].text(), "z");
  for (const std::string_view bad :
       {std::string_view("\x03\0\0\0xyz", 7), std::string_view("\1\0\0\0xyz", 7),
        std::string_view("\0\0", 2),
        std::string_view("\xff\xff\xff\xff"
                         "a",
                         5)})
    EXPECT_EQ(split(columns, Bytes::copy_of(bad)).error().code(), Code::corrupt);
}

TEST(MdsColumns, PictureAndLabelAreChosenByEncodingThenName) {
  const auto column = [](const char* name, const char* encoding) {
    return Column{.name = name, .encoding = encoding};
  };
  const std::vector<Column> plain = {column("id", "int"), column("image", "bytes"),
                                     column("label", "int"), column("mask", "bytes")};
  EXPECT_EQ(*picture_column(plain), 1U);
  EXPECT_EQ(*label_column(plain), 2U);
  const std::vector<Column> encoded = {column("a", "bytes"), column("b", "jpeg"),
                                       column("c", "int")};
  EXPECT_EQ(*picture_column(encoded), 1U);
  EXPECT_EQ(*label_column(encoded), 2U);
  const std::vector<Column> none = {column("p", "pil"), column("q", "str")};
  EXPECT_NE(picture_column(none).error().to_string().find("p: pil, q: str"), std::string::npos);
  EXPECT_EQ(label_column(none).error().code(), Code::corrupt);
  const std::vector<Column> many = {column("a", "bytes"), column("b", "bytes"), column("c", "int"),
                                    column("d", "int")};
  EXPECT_FALSE(picture_column(many));
  EXPECT_FALSE(label_column(many));
}

TEST(MdsHashes, AreThoseOfTheIndex) {
  MemoryStore store;
  ASSERT_TRUE(put(store, "x", as_byte_span("abc"), {}));
  const auto object = store.head("x", {});
  const auto check = [&](const std::string& name, const std::string& digits) {
    const auto found = check_hashes(store, *object, {{name, digits}}, {});
    EXPECT_TRUE(found);
    return found->wrong + (found->unknown.empty() ? "" : "?" + found->unknown);
  };
  EXPECT_EQ(check("sha1", "a9993e364706816aba3e25717850c26c9cd0d89d"), "");
  EXPECT_EQ(check("md5", "900150983cd24fb0d6963f7d28e17f72"), "");
  EXPECT_EQ(check("xxh32", "32d153ff"), "");
  EXPECT_EQ(check("xxh64", "44bc2cf5ad770999"), "");
  EXPECT_EQ(check("xxh3_64", "78af5f94892f3950"), "");
  EXPECT_EQ(check("xxh128", "06b05ab6733a618578af5f94892f3950"), "");
  EXPECT_EQ(check("sha1", "00993e364706816aba3e25717850c26c9cd0d89d"), "sha1");
  EXPECT_EQ(check("crc7", "00"), "?crc7");
}

std::string index_of(const std::string& shard) {
  return R"({"version":2,"shards":[)" + shard + "]}";
}

const std::string kShard =
    R"({"format":"mds","version":2,"samples":1,"column_names":["a"],"column_encodings":["int"],)"
    R"("column_sizes":[8],"compression":null,"raw_data":{"basename":"s.mds","bytes":9},"zip_data":null})";

std::string with(std::string shard, const std::string& what, const std::string& instead) {
  const auto at = shard.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return shard.replace(at, what.size(), instead);
}

TEST(MdsIndex, WhatIsWrongIsNamed) {
  ASSERT_TRUE(parse_index(index_of(kShard))) << parse_index(index_of(kShard)).error().to_string();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {with(kShard, "\"mds\"", "\"csv\""), "shard 0: format \"csv\""},
      {with(kShard, "\"version\":2", "\"version\":1"), "shard 0: version 1"},
      {with(kShard, "[\"a\"]", "[]"), "no \"column_names\""},
      {with(kShard, "[8]", "[8,8]"), "no list \"column_sizes\""},
      {with(kShard, "[8]", "[-1]"), "column 0 is described wrongly"},
      {with(kShard, "\"samples\":1", "\"samples\":\"1\""), "no number \"samples\""},
      {with(kShard, "\"samples\":1", "\"samples\":99999999999"), "samples"},
      {with(kShard, "s.mds", "../s.mds"), "leaves the folder"},
      {with(kShard, "s.mds", "/s.mds"), "leaves the folder"},
      {with(kShard, "s.mds", "a//s.mds"), "leaves the folder"},
      {with(kShard, "s.mds", ""), "leaves the folder"},
      {with(kShard, "\"bytes\":9", "\"bytes\":4294967296"), "a shard of"},
      {with(with(kShard, "\"zip_data\":null", "\"zip_data\":{\"basename\":\"z\",\"bytes\":1}"),
            "\"compression\":null", "\"compression\":\"lz5\""),
       "unknown compression \"lz5\""},
      {"7", "no shard"},
  };
  for (const auto& [shard, why] : cases) {
    const auto parsed = parse_index(index_of(shard));
    ASSERT_FALSE(parsed) << shard;
    EXPECT_NE(parsed.error().to_string().find(why), std::string::npos)
        << parsed.error().to_string();
  }
  for (const char* bad : {"", "[]", "{}", R"({"version":2})", R"({"version":"2","shards":[]})"})
    EXPECT_FALSE(parse_index(bad)) << bad;
}

TEST(Mds, WithoutAnIndexIsNotFound) {
  MemoryStore store;
  ASSERT_TRUE(put(store, "shard.00000.mds", as_byte_span("x"), {}));
  const auto set = open_mds(store, {}, {});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_NE(set.error().to_string().find("index.json"), std::string::npos);
}

}  // namespace
}  // namespace headrace::mds
