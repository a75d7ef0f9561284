// SPDX-License-Identifier: Apache-2.0
// Many reads at once: slow ones are sent a second time, throttling lowers how many there are.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>

#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/s3_test_server.h"

namespace headrace {
namespace {

using namespace std::chrono_literals;
using testing::HttpAnswer;
using testing::s3_error;
using testing::S3Seen;
using testing::S3TestServer;

class S3Load : public ::testing::Test {
 protected:
  void open(const std::function<void(S3Options&)>& change = {}) {
    S3Options options = server_.options();
    if (change) change(options);
    auto store = make_s3_store("b", "", context_, options);
    ASSERT_TRUE(store.ok()) << store.error().to_string();
    store_ = *std::move(store);
    server_.put("a", text_);
    const auto info = store_->head("a", {});
    ASSERT_TRUE(info.ok());
    pin_ = info->pin;
  }
  void read_many(int count) {
    std::latch all(count);
    for (int i = 0; i < count; ++i) {
      store_->read({.key = "a", .pin = pin_}, [&](const Result<ReadResult>& read) {
        if (!read.ok() || read->bytes.text() != text_) ++wrong_;
        all.count_down();
      });
    }
    all.wait();
  }
  std::uint64_t hedges() { return context_.metrics->get(Metric::hedges); }

  const std::string text_ = testing::pattern(1, 10'000);
  Context context_;
  S3TestServer server_;
  std::unique_ptr<Store> store_;
  Pin pin_;
  std::atomic<int> wrong_{0};
};

TEST_F(S3Load, AReadThatHangsIsSentASecondTime) {
  open();
  read_many(400);
  server_.put("hangs", text_);
  const Pin pin = store_->head("hangs", {})->pin;
  server_.plan(
      [left = std::make_shared<std::atomic<int>>(1)](const S3Seen& request, HttpAnswer& right) {
        if (request.key == "hangs" && left->fetch_sub(1) > 0)
          right.end = HttpAnswer::End::hang, right.nothing = true;
      });
  std::atomic<bool> ended{false};
  store_->read({.key = "hangs", .pin = pin}, [&](const Result<ReadResult>& read) {
    EXPECT_TRUE(read.ok() && read->bytes.text() == text_);
    ended = true;
  });
  // Without a hedge it would take the 20 s of stall_timeout, and a retry. Others earn the
  // allowance.
  while (!ended) read_many(50);
  EXPECT_EQ(wrong_, 0);
  EXPECT_GE(hedges(), 1U);
  EXPECT_EQ(context_.metrics->get(Metric::retries), 0U);
}

TEST_F(S3Load, HedgesAreAtMostOnePercent) {
  open();
  server_.plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.number % 20 == 7) right.delay = 50ms;
  });
  read_many(3000);
  EXPECT_EQ(wrong_, 0);
  EXPECT_LE(hedges(), 30U);
  EXPECT_EQ(context_.metrics->get(Metric::requests),
            3001U + hedges() + context_.metrics->get(Metric::retries));
}

TEST_F(S3Load, WithoutHedgingNothingIsSentTwice) {
  open([](S3Options& options) { options.hedge = false; });
  server_.plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.number % 100 == 7) right.delay = 50ms;
  });
  read_many(1000);
  EXPECT_EQ(wrong_, 0);
  EXPECT_EQ(hedges(), 0U);
  EXPECT_EQ(context_.metrics->get(Metric::requests), 1001U);
}

TEST_F(S3Load, AStopEndsBothAndTheStoreCloses) {
  open();
  read_many(400);
  server_.put("hangs", text_);
  const Pin pin = store_->head("hangs", {})->pin;
  std::atomic<int> hung{0};
  server_.plan([&hung](const S3Seen& request, HttpAnswer& right) {
    if (request.key != "hangs") return;
    right.end = HttpAnswer::End::hang, right.nothing = true;
    ++hung;
  });
  std::stop_source stop;
  std::latch all(5);
  for (int i = 0; i < 5; ++i) {
    store_->read({.key = "hangs", .pin = pin, .stop = stop.get_token()},
                 [&all](const Result<ReadResult>& read) {
                   EXPECT_EQ(read.error().code(), Code::cancelled);
                   all.count_down();
                 });
  }
  while (hung < 6) read_many(50);  // at least one of them was sent twice
  stop.request_stop();
  all.wait();
  for (int i = 0; i < 5; ++i) store_->read({.key = "hangs", .pin = pin}, [](const auto&) {});
  store_.reset();
}

TEST_F(S3Load, AnObjectThatIsGoneIsSaidByWhicheverAnswers) {
  open();
  read_many(400);
  server_.plan([](const S3Seen& request, HttpAnswer& right) {
    right = s3_error(404, "NoSuchKey");
    if (request.number % 2 == 0) right.delay = 60ms;
  });
  for (int i = 0; i < 20; ++i) {
    const auto read = read_now(*store_, {.key = "a", .pin = pin_});
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().code(), Code::not_found);
  }
}

TEST_F(S3Load, MoreConnectionsAreOpenedWhileMoreComesOfIt) {
  open([](S3Options& options) {
    options.begin_connections = 4;
    options.max_connections = 64;
  });
  server_.plan([](const S3Seen&, HttpAnswer& right) { right.delay = 30ms; });
  // What another program takes from this machine may look like a gain that did not come.
  for (int round = 0; round < 10 && server_.connections() <= 8; ++round) read_many(600);
  EXPECT_EQ(wrong_, 0);
  EXPECT_GT(server_.connections(), 8);
  EXPECT_LE(server_.connections(), 66);
}

TEST_F(S3Load, UnderThrottlingAllIsReadAfterAll) {
  open();
  server_.plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.number % 5 == 0) right = s3_error(503, "SlowDown");
  });
  read_many(1000);
  EXPECT_EQ(wrong_, 0);
}

}  // namespace
}  // namespace headrace
