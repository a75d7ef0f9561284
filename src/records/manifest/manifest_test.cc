// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/manifest/manifest.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "headrace/records/manifest/array.h"
#include "headrace/records/manifest/lines.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace {
namespace {

using manifest::parse_array;
using manifest::parse_line;
using manifest::Root;

const Root kRoot("s3://bucket/data");

TEST(ManifestArray, IsAPrefixAndNames) {
  const auto array = parse_array("[ {\"prefix\": \"s3://b/t/\"},\n \"a\",\n\n \"b\\u00fc\" ]");
  ASSERT_TRUE(array) << array.error().to_string();
  EXPECT_EQ(array->prefix, "s3://b/t/");
  ASSERT_EQ(array->names.size(), 2U);
  EXPECT_EQ(array->names[0].name, "a");
  EXPECT_EQ(array->names[0].line, 2U);
  EXPECT_EQ(array->names[1].name, "b\xc3\xbc");
  EXPECT_EQ(array->names[1].line, 4U);
}

TEST(ManifestArray, WhatIsWrongIsSaidWithItsLine) {
  const auto why = [](std::string_view text) { return parse_array(text).error().to_string(); };
  EXPECT_TRUE(why("[{\"prefix\": \"s3://b/\"},\n\"a\",\n7]").starts_with("line 3: a name that"));
  EXPECT_TRUE(why("[{\"prefix\": \"s3://b/\"},\n[\"a\"]]").starts_with("line 2: a list within"));
  EXPECT_TRUE(why("[{\"prefix\": \"s3://b/\"},\n{}]").starts_with("line 2: an object where"));
  EXPECT_TRUE(why("[{\"prefix\": \"s3://b/\"},\n\"a\"").starts_with("line 2: no JSON"));
  EXPECT_TRUE(why("[{\"prefix\": \"\"}]").starts_with("line 1: no \"prefix\""));
  EXPECT_TRUE(why("[\"a\"]").starts_with("line 1: the first of the list"));
  for (const char* bad : {"", "{}", "7", "\"a\"", "[]", "[{}]", "[null]", R"([{"prefix":7},"a"])"})
    EXPECT_FALSE(parse_array(bad)) << bad;
}

TEST(ManifestReferences, LieBelowTheRoot) {
  EXPECT_EQ(*kRoot.key_of("s3://bucket/data/a/b.jpg"), "a/b.jpg");
  EXPECT_EQ(*kRoot.key_of("a/b.jpg"), "a/b.jpg");
  EXPECT_EQ(*Root("/data").key_of("file:///data/a.jpg"), "a.jpg");
  EXPECT_EQ(*Root("/data/").key_of("/data/a.jpg"), "a.jpg");
  for (const char* bad :
       {"s3://bucket/data2/a", "s3://bucket/a", "s3://other/data/a", "/etc/passwd", "../a",
        "a/../../b", "a/..", "", "s3://bucket/data/", "http://h/a"})
    EXPECT_EQ(kRoot.key_of(bad).error().code(), Code::invalid) << bad;
}

TEST(ManifestReferences, OfARelativeRootThatHasTheirFoldersNameAreKeys) {
  const auto here = std::filesystem::current_path().string();
  for (const char* root : {"set", "set/", "./set"}) {
    EXPECT_EQ(*Root(root).key_of("set/a.jpg"), "set/a.jpg") << root;
    EXPECT_EQ(*Root(root).key_of(here + "/set/set/a.jpg"), "set/a.jpg") << root;
    EXPECT_EQ(Root(root).key_of(here + "/a.jpg").error().code(), Code::invalid) << root;
  }
  EXPECT_EQ(*Root(".").key_of(here + "/a.jpg"), "a.jpg");
}

std::string labels(std::string_view line, const std::vector<std::string>& attributes = {}) {
  const auto row = parse_line(line, attributes, kRoot);
  if (!row) return "error: " + row.error().to_string();
  return fmt::format("{}: {}", row->path, fmt::join(row->labels, "|"));
}

TEST(AugmentedManifest, LabelsComeInManyForms) {
  EXPECT_EQ(labels(R"({"source-ref":"a","class":3,"class-metadata":{"x":1}})"), "a: 3");
  EXPECT_EQ(labels(R"({"class":"cat","source-ref":"s3://bucket/data/a"})"), "a: cat");
  EXPECT_EQ(labels(R"({"source-ref":"a","l":[0,1,0.5]})"), "a: 0|1|0.5");
  EXPECT_EQ(labels(R"({"source-ref":"a","l":"[0, 1, 1]"})"), "a: 0|1|1");
  EXPECT_EQ(labels(R"({"source-ref":"a","l":true})"), "a: 1");
  EXPECT_EQ(labels(R"({"source-ref":"a","l":"[x"})"), "a: [x");
}

TEST(AugmentedManifest, AttributeNamesSayWhatIsMeant) {
  const char* const line = R"({"a-ref":"a","b-ref":"b","x":1,"y":2})";
  EXPECT_TRUE(labels(line).starts_with("error: not one reference and one label")) << labels(line);
  EXPECT_NE(labels(line).find("a-ref, b-ref, x, y"), std::string::npos);
  EXPECT_EQ(labels(line, {"b-ref", "y"}), "b: 2");
  EXPECT_EQ(labels(line, {"a-ref", "b-ref", "x"}), "a: 1");
  EXPECT_TRUE(labels(line, {"a-ref", "z"}).starts_with("error: no attribute \"z\""));
  const char* const twice = R"({"a-ref":"a","x":1,"x":2,"m-metadata":{"x":1,"x":2}})";
  EXPECT_TRUE(labels(twice).starts_with("error: an attribute stands twice among: a-ref, x, m-"))
      << labels(twice);
  EXPECT_TRUE(labels(line, {"x", "y"}).starts_with("error: the attribute names have no picture"));
}

TEST(AugmentedManifest, LinesThatAreWrongAreErrors) {
  for (const char* bad : {"", "[]", "7", "{", R"({"source-ref":7,"l":1})", R"({"source-ref":"a"})",
                          R"({"source-ref":"a","l":null})", R"({"source-ref":"a","l":{}})",
                          R"({"source-ref":"a","l":[]})", R"({"source-ref":"a","l":["x"]})",
                          R"({"source-ref":"a","l":""})", R"({"source-ref":"../a","l":1})"})
    EXPECT_EQ(parse_line(bad, {}, kRoot).error().code(), Code::invalid) << bad;
}

void fill(Store& store, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) ASSERT_TRUE(put(store, key, as_byte_span(key), {}));
}

std::string contents(Store& store, const Dataset& set) {
  std::string text;
  for (std::uint64_t id = 0; id < set.size(); ++id) {
    const Extent extent = set.locate(SampleId{id});
    const auto got = read_now(store, {.key = extent.key, .range = extent.range, .pin = extent.pin});
    EXPECT_TRUE(got) << got.error().to_string();
    const auto sample = set.parse(SampleId{id}, got->bytes);
    EXPECT_TRUE(sample) << sample.error().to_string();
    text += fmt::format("{}={} ", sample->payload.text(), fmt::join(sample->labels, ","));
  }
  return text;
}

TEST(Manifest, OfClassFoldersIsTheFolderOfWhatItNames) {
  MemoryStore store;
  fill(store, {"t/cat/1.jpg", "t/cat/2.jpg", "t/dog/3.jpg", "t/dog/4.jpg", "other/5.jpg"});
  const std::string_view text = R"([{"prefix":"s3://b/t/"},"dog/4.jpg","cat/2.jpg","cat/1.jpg"])";
  ASSERT_TRUE(put(store, "x.manifest", as_byte_span(text), {}));
  const auto set = open_dataset(store, {}, {.list = "x.manifest", .list_root = "s3://b"});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "folder");
  EXPECT_EQ((*set)->classes(), (std::vector<std::string>{"cat", "dog"}));
  EXPECT_EQ(contents(store, **set), "t/cat/1.jpg=0 t/cat/2.jpg=0 t/dog/4.jpg=1 ");
  EXPECT_EQ((*set)->name(SampleId{2}), "t/dog/4.jpg");
}

TEST(Manifest, NamesWhatIsMissingWithItsLine) {
  MemoryStore store;
  fill(store, {"t/cat/1.jpg"});
  const std::string_view text = "[{\"prefix\":\"s3://b/t/c\"},\n\"at/1.jpg\",\n\"at/2.jpg\"]";
  ASSERT_TRUE(put(store, "x.manifest", as_byte_span(text), {}));
  const auto set = open_dataset(store, {}, {.list = "x.manifest", .list_root = "s3://b"});
  ASSERT_FALSE(set);
  EXPECT_EQ(set.error().code(), Code::not_found);
  EXPECT_TRUE(set.error().to_string().starts_with("x.manifest, line 3: "))
      << set.error().to_string();
}

TEST(Manifest, AugmentedIsFoundInTheRootAndOrderedByKeys) {
  MemoryStore store;
  fill(store, {"p/2.jpg", "p/1.jpg", "p/3.jpg"});
  const auto line = [](int number, const std::string& label) {
    return fmt::format("{{\"source-ref\":\"s3://b/p/{}.jpg\",\"class\":{}}}\n", number, label);
  };
  ASSERT_TRUE(put(store, "a.manifest", as_byte_span(line(3, "7") + line(1, "[1,2]")), {}));
  ASSERT_TRUE(put(store, "b.manifest", as_byte_span(line(2, "0.5")), {}));
  const auto set = open_dataset(store, {}, {.list_root = "s3://b"});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->format(), "manifest");
  EXPECT_EQ(contents(store, **set), "p/1.jpg=1,2 p/2.jpg=0.5 p/3.jpg=7 ");
}

TEST(Manifest, OfACopyIsReadWithTheRootThatItNames) {
  MemoryStore store;
  fill(store, {"p/1.jpg"});
  const std::string line = R"({"source-ref":"s3://bucket/set/p/1.jpg","class":"cat"})";
  ASSERT_TRUE(put(store, "x.manifest", as_byte_span(line), {}));
  const auto refused = open_dataset(store, {}, {.list = "x.manifest"});
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().to_string().starts_with("x.manifest, line 1: "));
  EXPECT_NE(refused.error().remedy().find("--list-root"), std::string::npos);
  const auto set = open_dataset(store, {}, {.list = "x.manifest", .list_root = "s3://bucket/set"});
  ASSERT_TRUE(set) << set.error().to_string();
  EXPECT_EQ((*set)->classes(), std::vector<std::string>{"cat"});
  EXPECT_EQ(contents(store, **set), "p/1.jpg=0 ");
}

TEST(Manifest, IsKnownByItsFirstBytes) {
  const auto known = [](std::string_view text) { return is_manifest(as_byte_span(text)); };
  EXPECT_TRUE(known(" [ {\"prefix\": \"s3://b/\"}"));
  EXPECT_TRUE(known("{\"source-ref\":\"s3://b/a\",\"class\":1}\n"));
  EXPECT_FALSE(known("[1, 2]"));
  EXPECT_FALSE(known("{\"version\": 2, \"shards\": []}"));
  EXPECT_FALSE(known(""));
}

}  // namespace
}  // namespace headrace
