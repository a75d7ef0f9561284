// SPDX-License-Identifier: Apache-2.0
// Whole channels: a writer, its FIFOs, and a loader or a plain reader behind them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "headrace/consumers/pipe/frame_source.h"
#include "headrace/consumers/pipe/pipe_feed.h"
#include "headrace/consumers/pipe/pipe_writer.h"
#include "headrace/loader/testing/world.h"
#include "headrace/records/recordio/frame.h"
#include "headrace/records/recordio/image_record.h"
#include "headrace/records/recordio/recordio.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::pipe {
namespace {

using headrace::testing::Delivered;
using headrace::testing::drain;
using headrace::testing::pattern;
using headrace::testing::ScriptedStore;
using headrace::testing::small_job;
using headrace::testing::TemporaryFolder;
using headrace::testing::World;

/// Two shards of 15 and 10 image records; record 3 holds the magic and so has two parts.
struct Shards {
  Shards() {
    for (const int shard : {0, 1}) {
      std::vector<std::byte> bytes;
      for (int i = 0; i < (shard == 0 ? 15 : 10); ++i) {
        const auto number = static_cast<std::uint64_t>(shard * 15 + i);
        std::string picture = pattern(number, 30 + number * 7);
        if (number == 3) picture.replace(8, 4, "\x0a\x23\xd7\xce");
        const float label = static_cast<float>(number % 4);
        EXPECT_TRUE(recordio::append_frame(recordio::image_header(std::span(&label, 1), number),
                                           as_byte_span(picture), bytes)
                        .ok());
      }
      contents.emplace_back(as_text(bytes));
      EXPECT_TRUE(put(store, fmt::format("s{}.rec", shard), bytes, {}).ok());
    }
    EXPECT_TRUE(put(store, "readme.txt", as_byte_span("not data"), {}).ok());
    reopen();
  }
  void reopen() { dataset = *open_recordio(store, context, {}); }

  Context context;
  ScriptedStore store;
  std::vector<std::string> contents;
  std::unique_ptr<Dataset> dataset;
};

class Pipe : public ::testing::Test {
 protected:
  WriterOptions global() {
    return {.dir = folder_.string(), .order = StreamOrder::global, .seed = 7};
  }
  WriterOptions global_of(const LoaderOptions& loader) {
    auto options = global();
    options.seed = loader.seed;
    options.epochs = loader.epochs;
    options.plan = {
        .batch = loader.batch, .rank = loader.rank, .world = loader.world, .tail = loader.tail};
    return options;
  }

  void start(Store& store, const Dataset& dataset, const WriterOptions& options) {
    writer_ = std::jthread([this, &store, &dataset, options] {
      result_ =
          write_channel(store, dataset, options,
                        {.at_epoch_end = [this](const WrittenEpoch& e) { written_.push_back(e); }},
                        stop_.get_token());
    });
  }
  Result<void> end() {
    writer_.join();
    return result_;
  }

  Delivered run(const Dataset& dataset, const LoaderOptions& loader_options, bool pairs = false,
                const std::optional<State>& resume = std::nullopt) {
    const auto feed = make_pipe_feed(
        dataset, {.dir = folder_.string(), .pairs = pairs, .timeouts = {.appear = Seconds(20)}});
    auto loader = Loader::make({}, **feed, dataset, loader_options, resume);
    EXPECT_TRUE(loader.ok()) << loader.error().to_string();
    return drain(**loader, loader_options.epochs - (resume ? resume->epoch : 0));
  }

  /// As a reader that knows nothing of us: to the end of the file.
  std::string read_all(std::uint64_t epoch) {
    const std::string path = fifo_path(folder_.string(), "train", epoch);
    while (!std::filesystem::exists(path)) std::this_thread::yield();
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TemporaryFolder folder_;
  std::stop_source stop_;
  Result<void> result_;
  std::vector<WrittenEpoch> written_;
  std::jthread writer_;
};

void expect_same(const Delivered& got, const Delivered& wanted) {
  ASSERT_FALSE(got.error) << got.error->to_string();
  ASSERT_EQ(got.epochs.size(), wanted.epochs.size());
  for (std::size_t i = 0; i < got.epochs.size(); ++i) {
    EXPECT_EQ(got.epochs[i].ledger, wanted.epochs[i].ledger);
    EXPECT_EQ(got.epochs[i].order_digest, wanted.epochs[i].order_digest);
    EXPECT_EQ(got.epochs[i].set_digest, wanted.epochs[i].set_digest);
  }
}

Delivered from_store(Store& store, const Dataset& dataset, const LoaderOptions& options) {
  const auto feed = make_store_feed(store, dataset);
  auto loader = Loader::make({}, *feed, dataset, options);
  return drain(**loader, options.epochs);
}

TEST_F(Pipe, StoredIsTheObjectsBackToBackInEveryEpoch) {
  Shards shards;
  start(shards.store, *shards.dataset, {.dir = folder_.string(), .epochs = 2});
  for (std::uint64_t epoch = 0; epoch < 2; ++epoch) {
    EXPECT_EQ(read_all(epoch), shards.contents[0] + shards.contents[1]);
  }
  ASSERT_TRUE(end().ok());
  ASSERT_EQ(written_.size(), 2U);
  EXPECT_EQ(written_[1].pieces, 2U);
  EXPECT_FALSE(written_[1].abandoned);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path())) << "no FIFO is left";
}

TEST_F(Pipe, StoredOfAFolderIsItsPicturesBackToBack) {
  World world(9);
  start(world.store, *world.dataset, {.dir = folder_.string()});
  std::string wanted;
  for (std::uint64_t i = 0; i < 9; ++i) {
    wanted += read_now(world.store, {.key = world.key(i)})->bytes.text();
  }
  EXPECT_EQ(read_all(0), wanted);
  ASSERT_TRUE(end().ok());
}

TEST_F(Pipe, GlobalHasTheVeryFramesOfTheShards) {
  Shards shards;
  start(shards.store, *shards.dataset, global());
  const std::string got = read_all(0);
  ASSERT_TRUE(end().ok());
  const Order order(Shuffle::global, 7, 0, 25);
  std::string wanted;
  for (std::uint64_t position = 0; position < 25; ++position) {
    const Extent at = shards.dataset->locate(SampleId{order.at(position)});
    wanted += shards.contents[at.key == "s0.rec" ? 0 : 1].substr(at.range.offset, at.range.length);
  }
  EXPECT_EQ(got, wanted);
}

TEST_F(Pipe, GivesALoaderTheSameAsTheStore) {
  Shards shards;
  auto options = small_job();
  options.epochs = 3;
  for (const Tail tail : {Tail::keep, Tail::drop, Tail::pad}) {
    for (std::uint64_t rank = 0; rank < 2; ++rank) {
      options.tail = tail;
      options.world = 2;
      options.rank = rank;
      start(shards.store, *shards.dataset, global_of(options));
      expect_same(run(*shards.dataset, options),
                  from_store(shards.store, *shards.dataset, options));
      EXPECT_TRUE(end().ok());
    }
  }
}

TEST_F(Pipe, CarriesPicturesAndLabelsAsPairs) {
  World world(17);
  auto options = small_job();
  options.epochs = 2;
  auto writer = global_of(options);
  EXPECT_EQ(check_writable(*world.dataset, writer).error().code(), Code::invalid);
  EXPECT_NE(check_writable(*world.dataset, writer).error().remedy().find("pack"),
            std::string::npos);
  writer.pairs = true;
  start(world.store, *world.dataset, writer);
  expect_same(run(*world.dataset, options, true), from_store(world.store, *world.dataset, options));
  EXPECT_TRUE(end().ok());
}

TEST_F(Pipe, LeavesABadRecordToTheReadersPolicy) {
  Shards shards;
  auto damaged = shards.contents[0];
  damaged[shards.dataset->locate(SampleId{5}).range.offset] = 'X';  // its magic
  ASSERT_TRUE(put(shards.store, "s0.rec", as_byte_span(damaged), {}).ok());
  shards.reopen();
  auto options = small_job();
  options.on_bad = OnBad::skip;
  start(shards.store, *shards.dataset, global_of(options));
  const auto got = run(*shards.dataset, options);
  expect_same(got, from_store(shards.store, *shards.dataset, options));
  EXPECT_EQ(got.epochs.at(0).ledger.skipped, 1U);
  EXPECT_TRUE(end().ok());
}

TEST_F(Pipe, ResumesInTheMiddleOfAnEpoch) {
  Shards shards;
  auto options = small_job();
  options.epochs = 3;
  const auto whole = from_store(shards.store, *shards.dataset, options);
  const auto feed = make_store_feed(shards.store, *shards.dataset);
  for (const int calls : {0, 3, 7, 8, 15}) {
    auto loader = Loader::make({}, *feed, *shards.dataset, options);
    for (int i = 0; i < calls; ++i) ASSERT_TRUE((*loader)->next({}).ok());
    const State state = (*loader)->state();
    auto writer = global_of(options);
    writer.first_epoch = state.epoch;
    writer.first_position = state.position;
    writer.epochs = 3 - state.epoch;
    start(shards.store, *shards.dataset, writer);
    Delivered rest = whole;
    rest.epochs.erase(rest.epochs.begin(),
                      rest.epochs.begin() + static_cast<std::ptrdiff_t>(state.epoch));
    expect_same(run(*shards.dataset, options, false, state), rest);
    EXPECT_TRUE(end().ok());
  }
}

TEST_F(Pipe, TakesAnEarlyCloseForTheEndOfTheEpoch) {
  Shards shards;
  start(shards.store, *shards.dataset, {.dir = folder_.string(), .epochs = 3});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const std::string path = fifo_path(folder_.string(), "train", epoch);
    while (!std::filesystem::exists(path)) std::this_thread::yield();
    std::ifstream file(path, std::ios::binary);
    if (epoch != 2) {
      file.get();
      continue;  // closes
    }
    std::ostringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), shards.contents[0] + shards.contents[1]);
  }
  ASSERT_TRUE(end().ok());
  EXPECT_EQ(written_.size(), 3U);
}

// A failed read must not look like the end of an epoch.
TEST_F(Pipe, EndsInsideARecordWhenItFails) {
  for (const StreamOrder order : {StreamOrder::stored, StreamOrder::global}) {
    Shards shards;
    shards.store.fail("s1.rec", Code::unavailable);
    auto options = global();
    options.order = order;
    start(shards.store, *shards.dataset, options);
    std::stop_source stop;
    const auto event = *StopEvent::make(stop.get_token());
    auto fifo = FifoReader::open(folder_.string(), "train", 0, {}, *event);
    ASSERT_TRUE(fifo.ok());
    std::vector<std::byte> frame;
    Result<bool> got = true;
    int records = 0;
    while (got.ok() && *got) {
      frame.clear();
      got = read_frame(*fifo, frame);
      records += got.ok() ? 1 : 0;
    }
    ASSERT_FALSE(got.ok()) << "a clean end after " << records << " records";
    EXPECT_EQ(got.error().code(), Code::unavailable);
    EXPECT_EQ(end().error().code(), Code::unavailable);
    EXPECT_TRUE(order == StreamOrder::global || records == 15);
  }
}

TEST_F(Pipe, StopsAtAnyMoment) {
  for (int moment = 0; moment < 8; ++moment) {
    Shards shards;
    if (moment % 2 == 1) shards.store.hold("s1.rec");
    start(shards.store, *shards.dataset, {.dir = folder_.string(), .epochs = 50});
    std::ifstream file;
    if (moment % 4 > 1) {
      const std::string path = fifo_path(folder_.string(), "train", 0);
      while (!std::filesystem::exists(path)) std::this_thread::yield();
      file.open(path);
      file.get();
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(moment));
    stop_.request_stop();
    EXPECT_EQ(end().error().code(), Code::cancelled);
    stop_ = {};
  }
}

TEST_F(Pipe, RefusesAStreamInAnotherOrder) {
  Shards shards;
  const auto options = small_job();
  auto writer = global_of(options);
  writer.seed = 8;
  start(shards.store, *shards.dataset, writer);
  const auto got = run(*shards.dataset, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::invalid);
  EXPECT_NE(got.error->to_string().find("order"), std::string::npos);
  std::ignore = end();
}

TEST_F(Pipe, RefusesBytesThatAreNoRecords) {
  World world(5);
  Shards shards;
  start(world.store, *world.dataset, {.dir = folder_.string()});
  const auto got = run(*shards.dataset, small_job());
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::invalid);
  EXPECT_NE(got.error->to_string().find("RecordIO"), std::string::npos);
  std::ignore = end();
}

TEST_F(Pipe, SaysWhenAStreamIsTooShort) {
  Shards shards;
  const auto options = small_job();
  auto writer = global_of(options);
  writer.plan = {.batch = 4, .rank = 0, .world = 3};
  writer.plan.tail = Tail::drop;
  ASSERT_TRUE(make_fifo(fifo_path(folder_.string(), "train", 0)).ok());
  const Order order(Shuffle::global, 7, 0, 25);
  std::jthread by_hand([&] {  // three good records, then a clean end
    std::ofstream file(fifo_path(folder_.string(), "train", 0), std::ios::binary);
    for (std::uint64_t position = 0; position < 3; ++position) {
      const Extent at = shards.dataset->locate(SampleId{order.at(position)});
      file << shards.contents[at.key == "s0.rec" ? 0 : 1].substr(at.range.offset, at.range.length);
    }
  });
  const auto got = run(*shards.dataset, options);
  ASSERT_TRUE(got.error);
  EXPECT_EQ(got.error->code(), Code::unavailable);
  EXPECT_NE(got.error->to_string().find("after 3 samples"), std::string::npos);
}

// What fails is the stream, not a sample: `skip` must not skip an epoch away.
TEST_F(Pipe, ThatNeverComesIsNoBadSample) {
  Shards shards;
  auto options = small_job();
  options.on_bad = OnBad::skip;
  const auto feed = make_pipe_feed(
      *shards.dataset, {.dir = folder_.string(), .timeouts = {.appear = Seconds(0.05)}});
  auto loader = Loader::make({}, **feed, *shards.dataset, options);
  const auto batch = (*loader)->next({});
  ASSERT_FALSE(batch.ok());
  EXPECT_EQ(batch.error().code(), Code::not_found);
}

TEST_F(Pipe, HasNoSubstitutes) {
  Shards shards;
  auto options = small_job();
  options.on_bad = OnBad::substitute;
  const auto feed = make_pipe_feed(*shards.dataset, {.dir = folder_.string()});
  EXPECT_EQ(Loader::make({}, **feed, *shards.dataset, options).error().code(), Code::invalid);
}

}  // namespace
}  // namespace headrace::pipe
