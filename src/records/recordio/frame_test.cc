// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "headrace/records/recordio/reader.h"
#include "headrace/records/testing/test_data.h"

namespace headrace::recordio {
namespace {

using ::testing::HasSubstr;

const std::string kMagicText("\x0a\x23\xd7\xce", 4);

std::string part(unsigned flag, const std::string& content, bool pad = true) {
  const std::uint32_t word = flag << 29U | static_cast<std::uint32_t>(content.size());
  std::string text =
      kMagicText + std::string(as_text(std::as_bytes(std::span(&word, 1)))) + content;
  while (pad && text.size() % 4 != 0) text += '\0';
  return text;
}

std::string framed(const std::string& header, const std::string& payload) {
  std::vector<std::byte> out;
  EXPECT_TRUE(append_frame(as_byte_span(header), as_byte_span(payload), out));
  return std::string(as_text(ByteSpan(out)));
}

std::string unframed(const std::string& frame, Parts parts = Parts::automatic) {
  const auto record = unframe(Bytes::copy_of(frame), parts);
  if (!record) return "error: " + record.error().cause();
  return std::string(record->text());
}

TEST(Frame, OnePartIsSlicedNotCopied) {
  const Bytes frame = Bytes::copy_of(part(0, "seven77"));
  EXPECT_EQ(frame.size(), 16U);
  const auto record = unframe(frame);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->text(), "seven77");
  EXPECT_EQ(record->data(), frame.data() + 8);
}

TEST(Frame, EmptyRecordIsLegal) {
  EXPECT_EQ(unframed(part(0, "")), "");
  EXPECT_EQ(framed("", ""), part(0, ""));
}

// A payload equal to the magic becomes two parts of length zero.
TEST(Frame, TheMagicItselfIsTwoEmptyParts) {
  EXPECT_EQ(framed("", kMagicText), part(1, "") + part(3, ""));
  EXPECT_EQ(unframed(part(1, "") + part(3, "")), kMagicText);
  EXPECT_EQ(framed("", kMagicText + kMagicText), part(1, "") + part(2, "") + part(3, ""));
}

// An id whose upper word is the magic: the record splits at byte 12, inside the image header.
TEST(Frame, TheMagicInsideTheHeaderSplitsToo) {
  const std::string header = "12345678abcd" + kMagicText + "efghijkl";
  const std::string frame = framed(header, "picture");
  EXPECT_EQ(frame, part(1, "12345678abcd") + part(3, "efghijklpicture"));
  EXPECT_EQ(unframed(frame), header + "picture");
}

TEST(Frame, OnlyAlignedMagicSplits) {
  for (const std::string lead : {"x", "xx", "xxx"})
    EXPECT_EQ(framed("", lead + kMagicText + "y"), part(0, lead + kMagicText + "y"));
  EXPECT_EQ(framed("head", "tail" + kMagicText), part(1, "headtail") + part(3, ""));
}

// What follows the magic is SageMaker's: only the labels' number in front tells that this is not.
TEST(Frame, OfAnImageRecordIsNeverTakenForSageMakers) {
  const std::string picture = kMagicText + std::string("\x0a\x00\x2d\x0a\x00\x00", 6);
  for (std::uint32_t flag = 0; flag < 65536; flag += flag < 4096 ? 1 : 97) {
    const std::string word(as_text(std::as_bytes(std::span(&flag, 1))));
    const std::string header = word + std::string(20, '\0');
    ASSERT_EQ(unframed(framed(header, picture)), header + picture) << flag;
  }
}

TEST(Frame, PartsAreJoinedByTheMagicUnlessToldOtherwise) {
  const std::string frame = part(1, "aaaa") + part(2, "bbbb") + part(3, "c");
  EXPECT_EQ(unframed(frame, Parts::dmlc), "aaaa" + kMagicText + "bbbb" + kMagicText + "c");
  EXPECT_EQ(unframed(frame), unframed(frame, Parts::dmlc));
  EXPECT_EQ(unframed(frame, Parts::sagemaker), "aaaabbbbc");
}

// dmlc never ends a part before the last at another place than a multiple of 4.
TEST(Frame, AnOddPartTellsThatTheWriterWasNotDmlc) {
  const std::string frame =
      part(1, "12345678") + part(2, "1234567890") + part(2, "1") + part(3, "z");
  EXPECT_EQ(unframed(frame), "1234567812345678901z");
}

TEST(Frame, DamageIsCorruptAndSaysWhere) {
  EXPECT_THAT(unframed("0123456789ab"), HasSubstr("no RecordIO magic"));
  EXPECT_THAT(unframed("012"), HasSubstr("3 bytes where"));
  EXPECT_THAT(unframed(""), HasSubstr("0 bytes where"));
  EXPECT_THAT(unframed(part(3, "x")), HasSubstr("flag 3 at part 0"));
  EXPECT_THAT(unframed(part(7, "x")), HasSubstr("flag 7 at part 0"));
  EXPECT_THAT(unframed(part(1, "xxxx")), HasSubstr("0 bytes where"));
  EXPECT_THAT(unframed(part(1, "xxxx") + part(0, "y")), HasSubstr("flag 0 at part 1"));
  EXPECT_THAT(unframed(part(0, "x") + part(0, "y")), HasSubstr("12 bytes before its frame"));
  EXPECT_THAT(unframed(part(0, "xxxx").substr(0, 10)), HasSubstr("of which 2 are there"));
}

TEST(Frame, PaddingMayLackAtTheEnd) { EXPECT_EQ(unframed(part(0, "abcde", false)), "abcde"); }

TEST(Frame, ARecordThatIsTooLongIsRefused) {
  std::vector<std::byte> out;
  const std::vector<std::byte> big(kMaxLength + 1);
  const auto written = append_frame({}, big, out);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code(), Code::invalid);
}

TEST(Reader, EmptySourceEndsCleanly) {
  const auto source = make_memory_source({});
  RecordReader reader(*source);
  const auto end = reader.next();
  ASSERT_TRUE(end);
  EXPECT_FALSE(end->has_value());
}

TEST(Reader, PartsThatNeverEndAreDamageAndTheNextRecordIsRead) {
  const auto source = make_memory_source(Bytes::copy_of(part(1, "lost") + part(0, "found")));
  RecordReader reader(*source);
  EXPECT_EQ(reader.next().error().code(), Code::corrupt);
  const Damage damage = reader.recover();
  EXPECT_EQ(damage.begin, 0U);
  EXPECT_EQ(damage.end, 12U);
  EXPECT_THAT(damage.why, HasSubstr("without its last part"));
  EXPECT_EQ((*reader.next())->payload.text(), "found");
}

// The magic of a payload that was never split must not be taken for a head while all is well.
TEST(Reader, UnsplitMagicDoesNotDisturbSequentialReading) {
  const std::string payload = "head" + part(0, "inner") + "tail";
  const auto source = make_memory_source(Bytes::copy_of(part(0, payload) + part(0, "next")));
  RecordReader reader(*source);
  EXPECT_EQ((*reader.next())->payload.text(), payload);
  EXPECT_EQ((*reader.next())->payload.text(), "next");
}

class FailingSource final : public ByteSource {
 public:
  Result<Bytes> next() override { return Error(Code::unavailable, "reset"); }
};

TEST(Reader, AFailureOfTheSourceStays) {
  FailingSource source;
  RecordReader reader(source);
  EXPECT_EQ(reader.next().error().code(), Code::unavailable);
  EXPECT_EQ(reader.next().error().code(), Code::unavailable);
}

TEST(Reader, RecordsShareThePieceTheyLieIn) {
  const Bytes bytes = Bytes::copy_of(part(0, "one") + part(0, "two"));
  const auto source = make_memory_source(bytes);
  RecordReader reader(*source);
  EXPECT_EQ((*reader.next())->payload.data(), bytes.data() + 8);
  EXPECT_EQ((*reader.next())->payload.data(), bytes.data() + 20);
}

}  // namespace
}  // namespace headrace::recordio
