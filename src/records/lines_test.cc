// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/testing/test_data.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> lines(const std::string& text, std::size_t piece) {
  const auto source = testing::make_piece_source(Bytes::copy_of(text), piece);
  LineReader reader(*source);
  std::vector<std::string> all;
  while (true) {
    const auto line = reader.next();
    EXPECT_TRUE(line);
    if (!line || !*line) break;
    all.emplace_back(**line);
    EXPECT_EQ(reader.number(), all.size());
  }
  return all;
}

TEST(Lines, PiecesAndLineEndsDoNotMatter) {
  for (const std::size_t piece : {1U, 2U, 3U, 100U}) {
    EXPECT_THAT(lines("one\ntwo\r\n\nlast", piece), ElementsAre("one", "two", "", "last"));
    EXPECT_THAT(lines("one\n", piece), ElementsAre("one"));
    EXPECT_THAT(lines("", piece), ElementsAre());
    EXPECT_THAT(lines("\n", piece), ElementsAre(""));
  }
}

TEST(Lines, ALineWithoutEndIsRefused) {
  const auto source =
      testing::make_piece_source(Bytes::copy_of(std::string(3U << 20U, 'x')), 100'000);
  LineReader reader(*source);
  EXPECT_EQ(reader.next().error().code(), Code::invalid);
}

TEST(ClassFile, NameIsThatOfAllShards) {
  EXPECT_EQ(class_file_key("a/train.rec"), "a/train.classes.txt");
  EXPECT_EQ(class_file_key("a/train-00001-of-00004.rec"), "a/train.classes.txt");
  EXPECT_EQ(class_file_key("a/train-00001.rec"), "a/train.classes.txt");
  EXPECT_EQ(class_file_key("a.b/train"), "a.b/train.classes.txt");
  EXPECT_EQ(class_file_key("c100.rec"), "c100.classes.txt");
  EXPECT_EQ(class_file_key("00001.rec"), "00001.classes.txt");
}

}  // namespace
}  // namespace headrace
