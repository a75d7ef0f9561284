// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/picture_end.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "headrace/records/picture_kind.h"
#include "headrace/records/testing/test_data.h"

namespace headrace {
namespace {

const std::string kFolder = HEADRACE_TEST_DATA "/vectors/";

ByteSpan span(const std::string& text) { return as_byte_span(text); }

std::string segment(char code, const std::string& content) {
  const auto length = content.size() + 2;
  return std::string("\xff") + code + static_cast<char>(length >> 8U) +
         static_cast<char>(length & 0xffU) + content;
}

const std::string kBegin = "\xff\xd8";
const std::string kEnd = "\xff\xd9";

std::string scan(const std::string& data) { return segment('\xda', "head") + data; }

// What the reference libraries decode must pass, cut off or not: this check is no decoder.
TEST(PictureEnd, NoPictureThatDecodesIsCalledCut) {
  std::ifstream table(kFolder + "pictures.tsv");
  int seen = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    std::string file;
    std::string verdict;
    fields >> file >> verdict;
    if (verdict != "decodes") continue;
    const auto bytes = testing::read_file(kFolder + file);
    // libspng and Pillow need no IEND once they have all rows.
    const bool cut = file == "png/no_iend.png";
    EXPECT_EQ(picture_problem(bytes.span()).empty(), !cut) << file;
    ++seen;
  }
  EXPECT_GT(seen, 100);
}

TEST(PictureEnd, EveryCutOfAPictureIsSeen) {
  for (const auto* file : {"jpeg/baseline_420.jpg", "jpeg/exif_1.jpg"}) {
    const auto bytes = testing::read_file(kFolder + file);
    ASSERT_EQ(picture_problem(bytes.span()), "") << file;
    const auto end = as_text(bytes.span()).rfind(kEnd);
    for (std::size_t size = 0; size < end + 2; ++size) {
      ASSERT_NE(picture_problem(bytes.span().first(size)), "") << file << " cut at " << size;
    }
  }
}

TEST(PictureEnd, TheEndOfAThumbnailIsNotThatOfThePicture) {
  const std::string thumbnail = kBegin + scan("small") + kEnd;
  const std::string whole = kBegin + segment('\xe1', thumbnail) + scan("large") + kEnd;
  EXPECT_EQ(jpeg_end_problem(span(whole)), "");
  const std::string cut = whole.substr(0, whole.size() - 2);
  EXPECT_NE(cut.rfind(kEnd), std::string::npos) << "a search for the mark alone is not enough";
  EXPECT_EQ(jpeg_end_problem(span(cut)), "a JPEG without its end mark");
}

TEST(PictureEnd, StatesOfAJpeg) {
  EXPECT_EQ(jpeg_end_problem(span(kBegin + scan("a\xff") + std::string(1, '\0') + "b" + kEnd)), "");
  EXPECT_EQ(jpeg_end_problem(span(kBegin +
                                  scan("a\xff\xd0"
                                       "b\xff\xd7") +
                                  kEnd)),
            "");
  EXPECT_EQ(jpeg_end_problem(span(kBegin + scan("one") + scan("two") + kEnd)), "");
  EXPECT_EQ(jpeg_end_problem(span(kBegin + scan("x") + "\xff\xff\xff\xd9")), "") << "fill bytes";
  EXPECT_EQ(jpeg_end_problem(span(kBegin + scan("x") + kEnd + "something behind it")), "");
  EXPECT_EQ(jpeg_end_problem(span(kBegin + "junk" + scan("x") + kEnd)), "") << "passed over";
  EXPECT_NE(jpeg_end_problem(span(kBegin + kEnd)), "");
  EXPECT_NE(jpeg_end_problem(span(kBegin + segment('\xe0', "JFIF"))), "");
  EXPECT_NE(jpeg_end_problem(span(kBegin + "\xff\xe0\x7f\xff short" + kEnd)), "");
  EXPECT_EQ(jpeg_end_problem(span(kBegin + std::string("\xff\xe0\0\1", 4) + scan("x") + kEnd)), "");
  EXPECT_NE(jpeg_end_problem(span(kBegin)), "");
  EXPECT_NE(jpeg_end_problem(span(kBegin + "\xff")), "");
  EXPECT_NE(jpeg_end_problem(span(kBegin + scan("x") + "\xff")), "");
}

TEST(PictureEnd, StatesOfAPng) {
  const std::string signature = "\x89PNG\r\n\x1a\n";
  const std::string end("\0\0\0\0IEND....", 12);
  const std::string data("\0\0\0\4IDATIEND....", 16);
  EXPECT_EQ(png_end_problem(span(signature + data + end)), "");
  EXPECT_EQ(png_end_problem(span(signature + data + end + "more")), "");
  EXPECT_NE(png_end_problem(span(signature + data)), "") << "IEND inside a chunk is none";
  EXPECT_NE(png_end_problem(span(signature + data + end.substr(0, 11))), "");
  EXPECT_NE(png_end_problem(span(signature + "\xff\xff\xff\xffIDAT....")), "");
  EXPECT_NE(png_end_problem(span(signature)), "");
}

}  // namespace
}  // namespace headrace
