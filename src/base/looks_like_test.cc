// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/looks_like.h"

#include <gtest/gtest.h>

namespace headrace {
namespace {

std::string_view what(std::string_view text) { return looks_like(as_byte_span(text)); }
std::string said(std::string_view text) { return begins_with_what(as_byte_span(text)); }

TEST(LooksLike, NamesWhatLiesWherePicturesShould) {
  EXPECT_EQ(what("<!DOCTYPE html><html>"), "a page of HTML");
  EXPECT_EQ(what("<?xml version=\"1.0\"?><Error><Code>AccessDenied"),
            "XML, such as a server's error");
  EXPECT_TRUE(
      what("version https://git-lfs.github.com/spec/v1").starts_with("a pointer of Git LFS"));
  EXPECT_EQ(what("/9j/4AAQSkZJRg"), "a JPEG as base64 text");
  EXPECT_EQ(what("{\"label\": 3}"), "JSON");
  EXPECT_EQ(what("cat\t7\n"), "text");
  EXPECT_TRUE(what(std::string_view("\0\0\0\0\0", 5)).starts_with("zeros"));
  EXPECT_EQ(what(std::string(257, 'n') + "ustar"), "a tar archive");
}

TEST(LooksLike, SaysNothingOfWhatItDoesNotKnow) {
  EXPECT_EQ(what(""), "");
  EXPECT_EQ(what("\xff\xd8\xff\xe0"), "");
  EXPECT_EQ(what(std::string(600, 'x').insert(3, 1, '\x01')), "");
}

TEST(LooksLike, ShowsTheFirstBytes) {
  EXPECT_EQ(
      said("<html><h1>404"),
      "it begins with 3c 68 74 6d 6c 3e 3c 68 (\"<html><h\"), which looks like a page of HTML");
  EXPECT_EQ(said("\x01\x02"), "it begins with 01 02");
  EXPECT_EQ(said("a\nb"), "it begins with 61 0a 62, which looks like text");
}

}  // namespace
}  // namespace headrace
