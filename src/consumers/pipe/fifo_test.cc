// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/fifo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::pipe {
namespace {

using headrace::testing::TemporaryFolder;
using ::testing::_;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr FifoReader::Timeouts kShort{.appear = Seconds(0.05), .data = Seconds(0.05)};
constexpr FifoReader::Timeouts kEver{.appear = Seconds(0), .data = Seconds(0)};

class Fifo : public ::testing::Test {
 protected:
  Result<FifoReader> reader(std::uint64_t epoch, const FifoReader::Timeouts& timeouts) {
    return FifoReader::open(folder_.string(), "train", epoch, timeouts, *event_);
  }
  std::string path(std::uint64_t epoch) { return fifo_path(folder_.string(), "train", epoch); }

  TemporaryFolder folder_;
  std::stop_source stop_;
  std::unique_ptr<StopEvent> event_ = *StopEvent::make(stop_.get_token());
  BlockSigpipe block_;
};

TEST_F(Fifo, CarriesBytesAndThenEnds) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  const std::string sent(3'000'000, 'x');
  std::jthread writer([&] {
    auto fifo = FifoWriter::open(path(0), *event_, Seconds(0));
    ASSERT_TRUE(fifo.ok());
    EXPECT_TRUE(*fifo->write(as_byte_span(sent)));
  });
  auto fifo = reader(0, kEver);
  ASSERT_TRUE(fifo.ok());
  std::vector<std::byte> got(sent.size() + 10);
  const auto count = fifo->read(got);
  ASSERT_TRUE(count.ok());
  EXPECT_EQ(*count, sent.size());
  EXPECT_EQ(as_text(std::span(got).first(*count)), sent);
  EXPECT_EQ(*fifo->read(got), 0U) << "the end stays";
}

TEST_F(Fifo, WaitsForAWriterInsteadOfTakingItsAbsenceForTheEnd) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  auto fifo = reader(0, kShort);
  std::byte byte{};
  const auto got = fifo->read(std::span(&byte, 1));
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::unavailable);
}

TEST_F(Fifo, MayAppearLate) {
  std::jthread late([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    ASSERT_TRUE(make_fifo(path(3)).ok());
  });
  EXPECT_TRUE(reader(3, kEver).ok());
}

TEST_F(Fifo, OfAnUnknownChannelIsAnErrorThatNamesTheKnownOnes) {
  ASSERT_TRUE(make_fifo(fifo_path(folder_.string(), "validation", 0)).ok());
  std::filesystem::create_directory(folder_.path() / "model");
  const auto fifo = reader(0, kShort);
  ASSERT_FALSE(fifo.ok());
  EXPECT_EQ(fifo.error().code(), Code::not_found);
  EXPECT_NE(fifo.error().cause().find("validation"), std::string::npos);
  EXPECT_NE(fifo.error().cause().find("model (a folder"), std::string::npos);
}

TEST_F(Fifo, OfAChannelInFileModeIsRefusedAtOnce) {
  std::filesystem::create_directory(folder_.path() / "train");
  const auto fifo = reader(0, kEver);  // would wait for ever
  ASSERT_FALSE(fifo.ok());
  EXPECT_EQ(fifo.error().code(), Code::invalid);
  EXPECT_NE(fifo.error().cause().find("File mode"), std::string::npos);
}

TEST_F(Fifo, ThatIsAFileIsRefusedByBothEnds) {
  std::ofstream(path(0)) << "not a FIFO";
  EXPECT_EQ(reader(0, kEver).error().code(), Code::invalid);
  EXPECT_EQ(make_fifo(path(0)).error().code(), Code::invalid);
  EXPECT_TRUE(std::filesystem::is_regular_file(path(0)));
}

TEST_F(Fifo, LeftByADeadWriterIsMadeAnew) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  ASSERT_TRUE(make_fifo(path(0)).ok());
  EXPECT_TRUE(std::filesystem::is_fifo(path(0)));
}

TEST_F(Fifo, TellsTheWriterThatItsReaderWent) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  auto fifo = reader(0, kEver);
  auto writer = FifoWriter::open(path(0), *event_, Seconds(0));
  ASSERT_TRUE(writer.ok());
  fifo = Error(Code::cancelled, "closed");
  EXPECT_FALSE(*writer->write(as_byte_span("x")));
}

TEST_F(Fifo, GivesUpWhenNobodyComes) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  const auto writer = FifoWriter::open(path(0), *event_, Seconds(0.05));
  ASSERT_FALSE(writer.ok());
  EXPECT_EQ(writer.error().code(), Code::unavailable);
}

TEST_F(Fifo, TellsOnceWhatItWaitsFor) {
  std::vector<std::string> told;
  const WaitHook hook{.tell = [&](const std::string& what) { told.push_back(what); },
                      .after = Seconds(0.01)};
  const std::string missing = folder_.string() + "/missing";
  EXPECT_FALSE(FifoReader::open(missing, "train", 0, kShort, *event_, hook).ok());
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0], HasSubstr("waits up to 0.05 s for the FIFO " + missing + "/train_0"));
  EXPECT_THAT(told[0], HasSubstr("folder is missing"));

  ASSERT_TRUE(make_fifo(path(0)).ok());
  auto fifo = FifoReader::open(folder_.string(), "train", 0, kShort, *event_, hook);
  ASSERT_TRUE(fifo.ok());
  std::byte byte{};
  const auto nothing = fifo->read(std::span(&byte, 1));
  EXPECT_THAT(nothing.error().cause(), HasSubstr("no program has opened it"));
  EXPECT_THAT(nothing.error().remedy(), HasSubstr("--pipe-wait"));
  EXPECT_FALSE(fifo->read(std::span(&byte, 1)).ok());
  fifo = Error(Code::cancelled, "closed");
  EXPECT_FALSE(FifoWriter::open(path(0), *event_, Seconds(0.05), hook).ok());
  EXPECT_THAT(told, ElementsAre(_, HasSubstr("for the first bytes in " + path(0)),
                                HasSubstr("for a reader of " + path(0))));
}

TEST_F(Fifo, TellsNothingWhereTheOtherSideIsThere) {
  const WaitHook hook{.tell = [](const std::string& what) { ADD_FAILURE() << what; },
                      .after = Seconds(30)};
  ASSERT_TRUE(make_fifo(path(0)).ok());
  auto fifo = FifoReader::open(folder_.string(), "train", 0, kEver, *event_, hook);
  auto writer = FifoWriter::open(path(0), *event_, Seconds(0), hook);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(*writer->write(as_byte_span("xy")));
  std::byte byte{};
  EXPECT_EQ(*fifo->read(std::span(&byte, 1)), 1U);
}

// Each wait ends when it is told to: for a path, a reader, room, a writer.
TEST_F(Fifo, StopsEveryWait) {
  ASSERT_TRUE(make_fifo(path(1)).ok());
  ASSERT_TRUE(make_fifo(path(2)).ok());
  std::vector<std::jthread> waiters;
  const auto expect_stopped = [](const auto& result) {
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code(), Code::cancelled);
  };
  waiters.emplace_back([&] { expect_stopped(reader(0, kEver)); });
  waiters.emplace_back([&] { expect_stopped(FifoWriter::open(path(1), *event_, Seconds(0))); });
  waiters.emplace_back([&] {
    auto fifo = reader(2, kEver);
    std::vector<std::byte> much(1U << 20U);
    expect_stopped(fifo->read(much));
  });
  stop_.request_stop();
}

TEST_F(Fifo, StopsAWriterWhoseReaderTakesNothing) {
  ASSERT_TRUE(make_fifo(path(0)).ok());
  auto fifo = reader(0, kEver);
  auto writer = FifoWriter::open(path(0), *event_, Seconds(0));
  std::jthread later([this] { stop_.request_stop(); });
  const auto written = writer->write(as_byte_span(std::string(9'000'000, 'x')));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace::pipe
