// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/xml.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace headrace::s3 {
namespace {

std::string load(const std::string& name) {
  std::ifstream file(std::string(HEADRACE_TEST_DATA) + "/vectors/keys/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> golden_keys(const std::string& file) {
  // The plain form cannot hold two of the 79.
  const auto json = nlohmann::json::parse(load("keys.json"));
  std::vector<std::string> keys;
  for (const auto& entry : json["keys"]) {
    const std::string name = entry["name"];
    if (file == "list_v2_plain.xml" && (name == "control_01" || name == "nonchar_uffff")) continue;
    std::string key;
    const std::string hex = entry["key_utf8_hex"];
    for (std::size_t i = 0; i < hex.size(); i += 2)
      key += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
    keys.push_back(key);
  }
  return keys;
}

class GoldenList : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Files, GoldenList,
                         ::testing::Values("list_v2_plain.xml", "list_v2_url_encoded.xml"),
                         [](const auto& param) {
                           return param.param.substr(0, param.index ? 13 : 10);
                         });

TEST_P(GoldenList, EveryOddKeyIsReadByteForByte) {
  const auto answer = parse_list(load(GetParam()));
  ASSERT_TRUE(answer.ok()) << answer.error().to_string();
  const auto keys = golden_keys(GetParam());
  ASSERT_EQ(answer->objects.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(answer->objects[i].key, keys[i]) << i;
    EXPECT_EQ(answer->objects[i].size, i * 1000003);
    EXPECT_EQ(answer->objects[i].etag.size(), 34U);
    EXPECT_EQ(answer->objects[i].modified_ns, 1704164645'000000000);
    EXPECT_EQ(answer->objects[i].storage_class, "STANDARD");
  }
  EXPECT_EQ(answer->next, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=+&");
}

TEST(ParseList, FoldersAndAnUnquotedETag) {
  const auto answer = parse_list(
      "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>a</Key><Size>5</Size>"
      "<ETag>abc</ETag></Contents><CommonPrefixes><Prefix>b c/</Prefix></CommonPrefixes>"
      "</ListBucketResult>");
  ASSERT_TRUE(answer.ok());
  EXPECT_EQ(answer->folders, std::vector<std::string>{"b c/"});
  EXPECT_EQ(answer->objects[0].etag, "\"abc\"");
  EXPECT_EQ(answer->next, "");
}

TEST(ParseList, TheFirstVersionTellsAMarkerOrItsLastEntryIsOne) {
  const auto marker = [](const std::string& inside) {
    const auto answer =
        parse_list("<ListBucketResult><IsTruncated>true</IsTruncated>" + inside +
                   "<Contents><Key>k 1</Key><Size>5</Size></Contents></ListBucketResult>");
    EXPECT_TRUE(answer.ok() && answer->truncated && answer->next.empty());
    return answer->marker;
  };
  EXPECT_EQ(marker("<NextMarker>m+1</NextMarker>"), "m+1");
  EXPECT_EQ(marker("<EncodingType>url</EncodingType><NextMarker>m+1</NextMarker>"), "m 1");
  EXPECT_EQ(marker(""), "k 1");
  EXPECT_EQ(marker("<CommonPrefixes><Prefix>z/</Prefix></CommonPrefixes>"), "z/");
}

TEST(ParseList, WhatIsNoListIsCorrupt) {
  for (const std::string text :
       {"", "<html>", "<html></html>", "\x00\x01", "<ListBucketResult>",
        "<ListBucketResult><Contents><Size>1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>-1</Size></Contents></ListBucketResult>",
        "<ListBucketResult><Contents><Key>a</Key><Size>9e9</Size></Contents></ListBucketResult>",
        "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>"}) {
    const auto answer = parse_list(text);
    ASSERT_FALSE(answer.ok()) << text;
    EXPECT_EQ(answer.error().code(), Code::corrupt);
  }
}

TEST(ParseError, GivesCodeAndMessageOrNothing) {
  const auto error = parse_error(
      "<?xml version=\"1.0\"?><Error><Code>AuthorizationHeaderMalformed</Code><Message>The region "
      "'us-east-1' is wrong</Message><Region>eu-west-1</Region></Error>");
  EXPECT_EQ(error.code, "AuthorizationHeaderMalformed");
  EXPECT_EQ(error.message, "The region 'us-east-1' is wrong");
  EXPECT_EQ(error.region, "eu-west-1");
  EXPECT_EQ(parse_error("<html>busy</html>").code, "");
  EXPECT_EQ(parse_error("").code, "");
}

TEST(ParseList, ATimeThatDoesNotFitIsUnknown) {
  for (const char* year : {"8351", "1012", "0000", "9999"}) {
    const auto answer =
        parse_list(std::string("<ListBucketResult><IsTruncated>false</IsTruncated>"
                               "<Contents><Key>a</Key><Size>5</Size><LastModified>") +
                   year +
                   "-01-02T03:04:05.000Z</LastModified></Contents>"
                   "</ListBucketResult>");
    ASSERT_TRUE(answer.ok()) << year;
    EXPECT_EQ(answer->objects.at(0).modified_ns, 0) << year;
  }
}

TEST(ParseIsoDate, SecondsOrNothing) {
  EXPECT_EQ(parse_iso_date("1970-01-01T00:00:01.999Z"), 1);
  EXPECT_EQ(parse_iso_date("2024-02-29T23:59:59Z"), 1709251199);
  for (const char* text : {"", "2024", "2024-13-01T00:00:00Z", "2024-02-30T00:00:00Z", "x"})
    EXPECT_EQ(parse_iso_date(text), 0) << text;
}

TEST(ChildText, FindsUploadIds) {
  EXPECT_EQ(child_text("<R xmlns=\"x\"><UploadId>a+b</UploadId></R>", "UploadId"), "a+b");
  EXPECT_EQ(child_text("<R/>", "UploadId"), "");
  EXPECT_EQ(child_text("not xml", "UploadId"), "");
}

}  // namespace
}  // namespace headrace::s3
