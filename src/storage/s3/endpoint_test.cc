// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::s3 {
namespace {

std::string url(std::string_view custom, std::string_view region, std::string_view bucket) {
  const auto endpoint = make_endpoint({.custom = custom, .region = region}, bucket);
  if (!endpoint.ok()) return endpoint.error().to_string();
  return endpoint->base + endpoint->path("a b/c") + " " + endpoint->host + " " + endpoint->region;
}

TEST(Endpoint, AwsHasTheBucketInTheHostUnlessItHasDots) {
  EXPECT_EQ(url("", "eu-west-1", "b"),
            "https://b.s3.eu-west-1.amazonaws.com/a%20b/c b.s3.eu-west-1.amazonaws.com eu-west-1");
  EXPECT_EQ(url("", "", "b"),
            "https://b.s3.us-east-1.amazonaws.com/a%20b/c b.s3.us-east-1.amazonaws.com us-east-1");
  EXPECT_EQ(url("", "us-east-1", "my.dotted.b"),
            "https://s3.us-east-1.amazonaws.com/my.dotted.b/a%20b/c s3.us-east-1.amazonaws.com "
            "us-east-1");
  EXPECT_EQ(url("", "cn-north-1", "b").substr(0, 44),
            "https://b.s3.cn-north-1.amazonaws.com.cn/a%2");
}

TEST(Endpoint, OthersHaveItInThePath) {
  EXPECT_EQ(url("http://127.0.0.1:9000", "", "b"),
            "http://127.0.0.1:9000/b/a%20b/c 127.0.0.1:9000 us-east-1");
  EXPECT_EQ(url("https://s3.example:443/", "r", "b"),
            "https://s3.example:443/b/a%20b/c s3.example r");
  EXPECT_EQ(url("http://h/behind/a/path/", "r", "b"), "http://h/behind/a/path/b/a%20b/c h r");
}

TEST(Endpoint, TheUserSaysWhereTheBucketStands) {
  const auto of = [](const EndpointOptions& options, std::string_view bucket) {
    const auto endpoint = make_endpoint(options, bucket);
    if (!endpoint.ok()) return endpoint.error().to_string();
    return endpoint->base + endpoint->path("k") + " " + endpoint->host;
  };
  EXPECT_EQ(of({.region = "eu-west-1", .addressing = Addressing::path}, "b"),
            "https://s3.eu-west-1.amazonaws.com/b/k s3.eu-west-1.amazonaws.com");
  EXPECT_EQ(of({.custom = "http://h:80/p", .addressing = Addressing::virtual_host}, "b"),
            "http://b.h:80/p/k b.h");
  EXPECT_EQ(of({.region = "r", .addressing = Addressing::virtual_host}, "a.b"),
            "https://a.b.s3.r.amazonaws.com/k a.b.s3.r.amazonaws.com");
  EXPECT_EQ(of({.region = "r", .dualstack = true, .fips = true}, "b"),
            "https://b.s3-fips.dualstack.r.amazonaws.com/k b.s3-fips.dualstack.r.amazonaws.com");
  EXPECT_THAT(of({}, "b--use1-az4--x-s3"), ::testing::HasSubstr("S3 Express"));
}

TEST(Endpoint, WhatCannotBeOneIsInvalidAndSaysWhy) {
  EXPECT_THAT(url("127.0.0.1:9000", "", "b"), ::testing::HasSubstr("http://127.0.0.1:9000"));
  for (const char* bad : {"ftp://h", "http://", "http:///x", "http://u:p@h", "http://h?x=y"}) {
    const auto endpoint = make_endpoint({.custom = bad}, "b");
    ASSERT_FALSE(endpoint.ok()) << bad;
    EXPECT_EQ(endpoint.error().code(), Code::invalid);
  }
  for (const char* bad : {"", "a/b", "a b", "\xc3\xbc", "a%b"})
    EXPECT_FALSE(make_endpoint({}, bad).ok()) << bad;
}

}  // namespace
}  // namespace headrace::s3
