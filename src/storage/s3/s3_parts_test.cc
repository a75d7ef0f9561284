// SPDX-License-Identifier: Apache-2.0
// Large reads in parts: slow ones are sent a second time, and what can be checked is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "headrace/storage/s3/s3_store.h"
#include "headrace/storage/testing/pattern.h"
#include "headrace/storage/testing/s3_test_server.h"

namespace headrace {
namespace {

using testing::HttpAnswer;
using testing::S3Habits;
using testing::S3Plan;
using testing::S3Seen;
using testing::S3TestServer;

constexpr std::uint64_t kPart = 8192;

class S3Parts : public ::testing::Test {
 protected:
  void serve(S3Habits habits = {}, bool hedge = true) {
    server_ = std::make_unique<S3TestServer>(std::move(habits));
    S3Options options = server_->options();
    options.hedge = hedge;
    options.part_bytes = kPart;
    options.split_above = 2 * kPart;
    options.retry.attempts = 4;
    auto store = make_s3_store("b", "", context_, options);
    ASSERT_TRUE(store.ok()) << store.error().to_string();
    store_ = *std::move(store);
    server_->put("large", text_);
    const auto info = store_->head("large", {});
    ASSERT_TRUE(info.ok());
    pin_ = info->pin;
  }
  Result<ReadResult> read(ByteRange range = {}) {
    return read_now(*store_, {.key = "large", .range = range, .pin = pin_});
  }
  void read_well(int times) {
    for (int i = 0; i < times; ++i) {
      const auto got = read();
      ASSERT_TRUE(got.ok()) << got.error().to_string();
      ASSERT_EQ(got->bytes.text(), text_);
    }
  }
  std::uint64_t count(Metric metric) { return context_.metrics->get(metric); }

  /// The request for this part of "large", once, is changed so.
  static S3Plan once(std::size_t part, std::function<void(HttpAnswer&)> change) {
    auto left = std::make_shared<std::atomic<int>>(1);
    const std::string range = fmt::format("bytes={}-", part * kPart);
    return [=](const S3Seen& request, HttpAnswer& right) {
      const auto header = request.headers.find("range");
      if (request.key != "large" || header == request.headers.end()) return;
      if (!header->second.starts_with(range)) return;
      if (left->fetch_sub(1) > 0) change(right);
    };
  }
  static void flip(HttpAnswer& right) { right.body[right.body.size() / 2] ^= 1; }

  const std::string text_ = testing::pattern(3, 20 * kPart + 77);
  Context context_;
  std::unique_ptr<S3TestServer> server_;
  std::unique_ptr<Store> store_;
  Pin pin_;
};

TEST_F(S3Parts, APartThatHangsIsSentASecondTime) {
  for (const std::size_t sent : {std::size_t{0}, std::size_t{kPart / 2}}) {
    serve();
    read_well(8);  // 168 parts earn a hedge
    const auto before = count(Metric::hedges);
    server_->plan(once(7, [sent](HttpAnswer& right) {
      right.end = HttpAnswer::End::hang;
      right.sent = sent;
      right.nothing = sent == 0;
    }));
    server_->put("others", text_);
    const Pin pin = store_->head("others", {})->pin;
    std::atomic<bool> ended{false};
    // On a busy machine others may be slow as well, and use up what was earned: they earn it again.
    std::thread others([&] {
      while (!ended) EXPECT_TRUE(read_now(*store_, {.key = "others", .pin = pin}).ok());
    });
    read_well(1);  // without a hedge it would take the 20 s of stall_timeout, and a retry
    ended = true;
    others.join();
    EXPECT_GT(count(Metric::hedges), before) << sent;
    EXPECT_EQ(count(Metric::retries), 0U);
  }
}

TEST_F(S3Parts, HedgesOfPartsAreAtMostOnePercent) {
  serve();
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.number % 20 == 7) right.delay = std::chrono::milliseconds(30);
  });
  read_well(40);
  EXPECT_LE(count(Metric::hedges), 9U) << "of 840 parts";
  EXPECT_EQ(count(Metric::requests), 841U + count(Metric::hedges) + count(Metric::retries));
}

TEST_F(S3Parts, WithoutHedgingNoPartIsSentTwice) {
  serve({}, false);
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.number % 50 == 7) right.delay = std::chrono::milliseconds(50);
  });
  read_well(8);
  EXPECT_EQ(count(Metric::hedges), 0U);
  EXPECT_EQ(count(Metric::requests), 169U);
}

TEST_F(S3Parts, AStopEndsBothRequestsOfAPart) {
  serve();
  read_well(12);
  std::atomic<int> hung{0};
  server_->plan([&hung](const S3Seen& request, HttpAnswer& right) {
    const auto range = request.headers.find("range");
    if (range == request.headers.end() || !range->second.starts_with("bytes=8192-")) return;
    right.end = HttpAnswer::End::hang;
    right.nothing = true;
    ++hung;
  });
  std::stop_source stop;
  std::atomic<bool> ended{false};
  store_->read({.key = "large", .pin = pin_, .stop = stop.get_token()},
               [&](const Result<ReadResult>& got) {
                 EXPECT_FALSE(got.ok());
                 ended = true;
               });
  while (hung < 2) std::this_thread::yield();  // the request and its hedge
  stop.request_stop();
  while (!ended) std::this_thread::yield();
  store_.reset();
}

TEST_F(S3Parts, AShortPartAndAnotherRangeAreMadeAgain) {
  const std::vector<std::function<void(HttpAnswer&)>> faults = {
      [](HttpAnswer& right) { right.body.resize(right.body.size() / 2); },
      [](HttpAnswer& right) { right.body += "x"; },
      [](HttpAnswer& right) {
        right.sent = 100;
        right.end = HttpAnswer::End::reset;
      },
      [](HttpAnswer& right) { right.headers.back().second = "bytes 0-8191/163917"; },
      [](HttpAnswer& right) { right.headers.back().second = "bytes 24576-24577/163917"; },
      [](HttpAnswer& right) { right.headers.back().second = "bytes 24576-32767/163918"; }};
  ASSERT_EQ(text_.size(), 163'917U);
  for (std::size_t i = 0; i < faults.size(); ++i) {
    serve({}, false);
    const auto before = count(Metric::retries);
    server_->plan(once(3, faults[i]));
    read_well(1);
    EXPECT_GT(count(Metric::retries), before) << i;
  }
}

TEST_F(S3Parts, AnObjectThatIsReplacedMeanwhileIsChanged) {
  serve({.honours_if_match = false});
  // The part is asked for again after the swap: whatever the other threads had made by then, it
  // comes from the new object.
  server_->plan(once(10, [this](HttpAnswer& right) {
    server_->put("large", testing::pattern(4, text_.size()));
    right = {.status = 503};
  }));
  const auto got = read();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::changed);
}

TEST_F(S3Parts, APartIsHeldAgainstItsChecksumIfTheServerTellsIt) {
  serve({.checksums = true, .range_sum = S3Habits::RangeSum::own}, false);
  read_well(1);
  server_->plan(once(5, flip));
  read_well(1);
  EXPECT_EQ(count(Metric::retries), 1U);
  server_->plan(once(5, flip));
  const auto part = read({5 * kPart, 100});
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(part->bytes.text(), text_.substr(5 * kPart, 100)) << "of small ranges too";
}

TEST_F(S3Parts, AllPartsAreHeldAgainstTheObjectsChecksumIfTheServerTellsThat) {
  serve({.checksums = true, .range_sum = S3Habits::RangeSum::whole}, false);
  read_well(1);
  const auto half = read({0, text_.size() / 2});
  ASSERT_TRUE(half.ok()) << "of a part of an object it says nothing";
  EXPECT_EQ(half->bytes.text(), text_.substr(0, text_.size() / 2));
  EXPECT_EQ(count(Metric::retries), 0U);
  server_->plan(once(5, flip));
  const auto got = read();
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::unavailable);
  EXPECT_NE(got.error().to_string().find("checksum"), std::string::npos);
  EXPECT_NE(got.error().to_string().find("s3://b/large"), std::string::npos);
}

}  // namespace
}  // namespace headrace
