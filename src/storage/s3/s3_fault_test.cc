// SPDX-License-Identifier: Apache-2.0
// What a server may do wrong, one test each: the same bytes after all, or a clear error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <latch>

#include "headrace/storage/testing/s3_world.h"

namespace headrace {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using testing::fail_first;
using ::testing::HasSubstr;
using testing::HttpAnswer;
using ::testing::Key;
using ::testing::Not;
using testing::s3_error;
using testing::s3_world;
using testing::S3Habits;
using testing::S3Seen;
using End = HttpAnswer::End;

const bool kRegistered =
    testing::register_store_conformance(s3_world("s3_exact", {})) &&
    testing::register_store_conformance(
        s3_world("s3_reverse_order", {.byte_order = false, .page = 7})) &&
    testing::register_store_conformance(s3_world("s3_ignores_range", {.honours_range = false})) &&
    testing::register_store_conformance(s3_world("s3_chunked", {.chunked = true})) &&
    testing::register_store_conformance(
        s3_world("s3_ignores_if_match", {.honours_if_match = false})) &&
    testing::register_store_conformance(s3_world("s3_without_etags", {.etags = false}));

class S3Faults : public testing::S3Test {
 protected:
  Pin pin_of(const std::string& key) {
    const auto info = store_->head(key, {});
    EXPECT_TRUE(info.ok()) << info.error().to_string();
    return info.ok() ? info->pin : Pin{};
  }
  std::uint64_t retries() { return context_.metrics->get(Metric::retries); }
  /// The plan fails the first GETs; the bytes must come, after `wanted` retries.
  void expect_recovery(const HttpAnswer& other, int failures) {
    open();
    const Pin pin = pin_of("a");
    server_->plan(fail_first(failures, "GET", other));
    const auto read = read_now(*store_, {.key = "a", .range = {100, 5000}, .pin = pin});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(read->bytes.text() == text_.substr(100, 5000));
    EXPECT_EQ(retries(), static_cast<std::uint64_t>(failures));
  }
  Error expect_error(ReadRequest request) {
    const auto read = read_now(*store_, std::move(request));
    EXPECT_FALSE(read.ok());
    return read.ok() ? Error(Code::invalid, "none") : read.error();
  }
};

TEST_F(S3Faults, SlowDownIsRetriedAndCounted) {
  ASSERT_TRUE(kRegistered);
  expect_recovery(s3_error(503, "SlowDown"), 5);
  EXPECT_EQ(context_.metrics->get(Metric::requests), 7U);  // HEAD, five, one
}

TEST_F(S3Faults, InternalErrorsAndThrottlingAreRetried) {
  expect_recovery(s3_error(500, "InternalError"), 2);
}
TEST_F(S3Faults, TooManyRequestsIsRetried) { expect_recovery(s3_error(429, "Throttled"), 2); }
TEST_F(S3Faults, AGatewayThatAnswersInHtmlIsRetried) {
  expect_recovery({.status = 502, .body = "<html>bad gateway</html>"}, 2);
}

TEST_F(S3Faults, AShortBodyIsRetried) {
  expect_recovery({.status = 206, .body = std::string(5000, 'x'), .end = End::close, .sent = 1234},
                  2);
}
TEST_F(S3Faults, AResetInTheBodyIsRetried) {
  expect_recovery({.status = 206, .body = std::string(5000, 'x'), .end = End::reset, .sent = 1234},
                  2);
}
TEST_F(S3Faults, AConnectionThatEndsWithoutAnAnswerIsRetried) {
  // On a connection that was used before, curl itself makes the request again on a new one.
  open();
  const Pin pin = pin_of("a");
  for (const int failures : {1, 3}) {
    server_->plan(fail_first(failures, "GET", {.end = End::close, .nothing = true}));
    const auto read = read_now(*store_, {.key = "a", .pin = pin});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(read->bytes.text() == text_);
  }
}
TEST_F(S3Faults, ABodyOfAnotherLengthThanTheRangeIsRetried) {
  expect_recovery({.status = 206,
                   .headers = {{"Content-Range", "bytes 100-5098/100000"}},
                   .body = std::string(4999, 'x')},
                  1);
}
TEST_F(S3Faults, AnAnswerLongerThanTheRangeIsRetried) {
  expect_recovery({.status = 206, .body = std::string(5001, 'x')}, 1);
}
TEST_F(S3Faults, AnotherRangeThanAskedForIsRetried) {
  expect_recovery({.status = 206,
                   .headers = {{"Content-Range", "bytes 0-4999/100000"}},
                   .body = std::string(5000, 'x')},
                  1);
}
TEST_F(S3Faults, ARequestTimeoutIsRetried) { expect_recovery(s3_error(400, "RequestTimeout"), 1); }

TEST_F(S3Faults, AStalledAnswerIsGivenUpAndMadeAgain) {
  open({}, [](S3Options& options) { options.stall_timeout = 1s; });
  const Pin pin = pin_of("a");
  server_->plan(fail_first(
      1, "GET", {.status = 206, .body = std::string(5000, 'x'), .end = End::hang, .sent = 100}));
  const auto read = read_now(*store_, {.key = "a", .range = {100, 5000}, .pin = pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_TRUE(read->bytes.text() == text_.substr(100, 5000));
  EXPECT_EQ(retries(), 1U);
}

TEST_F(S3Faults, ASlowFirstByteIsWaitedFor) {
  open();
  server_->plan([](const S3Seen&, HttpAnswer& right) { right.delay = 300ms; });
  EXPECT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_EQ(retries(), 0U);
}

TEST_F(S3Faults, OneSlowAnswerDoesNotHoldTheOthers) {
  open();
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.key == "slow") right.end = End::hang, right.nothing = true;
  });
  std::stop_source stop;
  std::latch ended(1);
  store_->read({.key = "slow", .stop = stop.get_token()},
               [&ended](const Result<ReadResult>& result) {
                 EXPECT_EQ(result.error().code(), Code::cancelled);
                 ended.count_down();
               });
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(read_now(*store_, {.key = "a"}).ok());
  stop.request_stop();
  ended.wait();
}

TEST_F(S3Faults, ThrottlingWithoutEndIsUnavailableAndSaysHowOften) {
  open();
  server_->plan(fail_first(1000, "GET", s3_error(503, "SlowDown")));
  const Error error = expect_error({.key = "a"});
  EXPECT_EQ(error.code(), Code::unavailable);
  EXPECT_EQ(error.place(), "s3://b/a");
  EXPECT_THAT(error.cause(), HasSubstr("SlowDown"));
  EXPECT_THAT(error.cause(), HasSubstr("gave up after 10 attempts"));
  EXPECT_EQ(retries(), 9U);
}

// Promise M9: An S3 server that has answered and is out of reach for a minute ends no job.
// Many times what ten attempts take, as 60 s are with what is set for users.
TEST_F(S3Faults, AnOutageInTheMiddleIsRiddenOut) {
  open({}, [](S3Options& options) { options.retry.outage = 30s; });
  const Pin pin = pin_of("a");
  for (const HttpAnswer& other :
       {HttpAnswer{.end = End::reset, .nothing = true}, s3_error(503, "SlowDown")}) {
    server_->plan(fail_first(80, "GET", other));
    const auto read = read_now(*store_, {.key = "a", .pin = pin});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(read->bytes.text() == text_);
  }
  EXPECT_GE(retries(), 100U);  // curl makes some of those without an answer again by itself
}

TEST_F(S3Faults, AnOutageWithoutEndIsAnErrorAfterItsTime) {
  open({}, [](S3Options& options) { options.retry.outage = 300ms; });
  const Pin pin = pin_of("a");
  server_.reset();  // nobody listens any more
  const auto begin = std::chrono::steady_clock::now();
  const Error error = expect_error({.key = "a", .pin = pin});
  EXPECT_EQ(error.code(), Code::unavailable);
  EXPECT_THAT(error.cause(), HasSubstr("gave up after"));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 250ms);
}

TEST_F(S3Faults, RetryAfterIsKept) {
  open();
  server_->plan(fail_first(1, "GET", s3_error(503, "SlowDown", {{"Retry-After", "1"}})));
  // The limit on what a server may ask for is 6 times the cap, 120 ms here.
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 120ms);
}

TEST_F(S3Faults, AServerThatIsDownIsSaidSoonWithItsAddress) {
  open();
  const std::string endpoint = server_->endpoint();
  server_.reset();
  const Error error = expect_error({.key = "a"});
  EXPECT_EQ(error.code(), Code::unavailable);
  EXPECT_THAT(error.cause(), HasSubstr(endpoint));
  EXPECT_THAT(error.cause(), HasSubstr("gave up after 4 attempts"));
  EXPECT_THAT(error.remedy(), HasSubstr("AWS_ENDPOINT_URL"));
}

TEST_F(S3Faults, AHostThatDoesNotExistIsUnavailable) {
  open({}, [](S3Options& options) { options.settings->endpoint = "http://no-such-host.invalid"; });
  const auto listed = list_all(*store_, "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::unavailable);
  EXPECT_THAT(listed.error().to_string(), HasSubstr("no-such-host.invalid"));
}

TEST_F(S3Faults, AnObjectThatIsSwappedIsChanged) {
  open();
  const Pin pin = pin_of("a");
  server_->put("a", testing::pattern(2, 100'000));
  EXPECT_EQ(expect_error({.key = "a", .pin = pin}).code(), Code::changed);
  const auto requests = server_->seen();
  EXPECT_EQ(requests.back().headers.at("if-match"), pin.etag);
}

TEST_F(S3Faults, AnETagThatIsAnotherIsChangedThoughTheServerIgnoresIfMatch) {
  open({.honours_if_match = false});
  const Pin pin = pin_of("a");
  server_->put("a", testing::pattern(2, 100'000));
  const Error error = expect_error({.key = "a", .range = {5, 10}, .pin = pin});
  EXPECT_EQ(error.code(), Code::changed);
  EXPECT_THAT(error.cause(), HasSubstr(pin.etag));
}

TEST_F(S3Faults, AnObjectThatSeemedToBeAnotherIsLookedAtAgain) {
  open();
  const Pin pin = pin_of("a");
  server_->plan(fail_first(3, "GET", {.headers = {{"ETag", "\"stale\""}}, .body = text_}));
  auto read = read_now(*store_, {.key = "a", .pin = pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_TRUE(read->bytes.text() == text_);
  server_->plan(fail_first(3, "GET", s3_error(412, "PreconditionFailed")));
  read = read_now(*store_, {.key = "a", .pin = pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(retries(), 6U);
}

TEST_F(S3Faults, ALargeObjectThatIsSwappedWhileItsPartsComeIsChangedNotMixed) {
  open({}, [](S3Options& options) {
    options.split_above = 10'000;
    options.part_bytes = 5'000;
    options.max_connections = 2;
  });
  const Pin pin = pin_of("a");
  server_->plan([this](const S3Seen& request, HttpAnswer&) {
    if (request.number == 5) server_->put("a", testing::pattern(2, 100'000));
  });
  EXPECT_EQ(expect_error({.key = "a", .pin = pin}).code(), Code::changed);
}

TEST_F(S3Faults, PartsOfALargeReadAreEachRetried) {
  open({}, [](S3Options& options) {
    options.split_above = 10'000;
    options.part_bytes = 7'000;
  });
  const Pin pin = pin_of("a");
  server_->plan(fail_first(9, "GET", s3_error(503, "SlowDown")));
  const auto read = read_now(*store_, {.key = "a", .range = {1, 99'998}, .pin = pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_TRUE(read->bytes.text() == text_.substr(1, 99'998));
  EXPECT_EQ(retries(), 9U);
}

TEST_F(S3Faults, TheFirstPartThatFailsEndsALargeRead) {
  open({}, [](S3Options& options) {
    options.split_above = 10'000;
    options.part_bytes = 1'000;
    options.max_connections = 1;
  });
  const Pin pin = pin_of("a");
  server_->plan(fail_first(1, "GET", s3_error(403, "AccessDenied")));
  EXPECT_EQ(expect_error({.key = "a", .pin = pin}).code(), Code::denied);
  EXPECT_LT(server_->seen().size(), 20U);
}

TEST_F(S3Faults, AServerWithoutETagsIsPinnedByTimeAndSizeAndSaidOnce) {
  open({.etags = false});
  const Pin pin = pin_of("a");
  EXPECT_TRUE(pin.weak());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(read_now(*store_, {.key = "a", .pin = pin}).ok());
  const auto notices = context_.notices->all();
  ASSERT_EQ(notices.size(), 1U);
  EXPECT_EQ(notices[0].kind, "weak-pin");
  EXPECT_EQ(notices[0].count, 1U);
  server_->put("a", testing::pattern(2, 100'000));
  EXPECT_EQ(expect_error({.key = "a", .pin = pin}).code(), Code::changed);
}

TEST_F(S3Faults, AnETagThatIsMissingOnceIsNoChange) {
  open();
  const Pin pin = pin_of("a");
  server_->plan([](const S3Seen&, HttpAnswer& right) {
    std::erase_if(right.headers, [](const auto& header) { return header.first == "ETag"; });
  });
  const auto read = read_now(*store_, {.key = "a", .pin = pin});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
}

TEST_F(S3Faults, TheBucketsRegionIsFollowedOnce) {
  open({.region = "eu-north-1"});
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_EQ(server_->seen().size(), 3U);
  EXPECT_THAT(server_->seen()[1].headers.at("authorization"), HasSubstr("/eu-north-1/s3/"));
  open({.region = "eu-north-1"});
  ASSERT_TRUE(store_->head("a", {}).ok()) << "of a HEAD the redirect has no body";
  EXPECT_EQ(server_->seen().size(), 2U);
}

TEST_F(S3Faults, ARegionInTheErrorIsFollowedToo) {
  open();
  auto malformed = s3_error(400, "AuthorizationHeaderMalformed");
  malformed.body.replace(malformed.body.find("</Error>"), 8, "<Region>eu-west-3</Region></Error>");
  server_->plan(fail_first(1, "GET", malformed));
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_THAT(server_->seen().back().headers.at("authorization"), HasSubstr("/eu-west-3/s3/"));
}

TEST_F(S3Faults, ARedirectThatLeadsInCirclesEnds) {
  open();
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    right = s3_error(301, "PermanentRedirect",
                     {{"x-amz-bucket-region", "r" + std::to_string(request.number + 2)}});
  });
  const Error error = expect_error({.key = "a"});
  EXPECT_EQ(error.code(), Code::invalid);
  EXPECT_THAT(error.remedy(), HasSubstr("AWS_REGION"));
  EXPECT_EQ(server_->seen().size(), 2U);
}

TEST_F(S3Faults, AClockThatIsWrongIsCorrectedOnce) {
  open();
  server_->plan(fail_first(
      1, "GET",
      s3_error(403, "RequestTimeTooSkewed", {{"Date", "Sat, 01 Jan 2050 00:00:00 GMT"}})));
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_THAT(server_->seen().back().headers.at("x-amz-date"), HasSubstr("20500101T0000"));
}

TEST_F(S3Faults, DeniedNamesTheIdentityAndIsNotRetried) {
  open();
  server_->plan(fail_first(100, "GET", s3_error(403, "AccessDenied")));
  const Error error = expect_error({.key = "a"});
  EXPECT_EQ(error.code(), Code::denied);
  EXPECT_THAT(error.cause(), HasSubstr("AKTEST"));
  EXPECT_EQ(retries(), 0U);
}

TEST_F(S3Faults, WithoutKeysRequestsGoUnsigned) {
  open({}, [](S3Options& options) { options.settings->credentials = {}; });
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  EXPECT_THAT(server_->seen().back().headers, Not(Contains(Key("authorization"))));
}

TEST_F(S3Faults, ASessionTokenIsSentAndSigned) {
  open({}, [](S3Options& options) { options.settings->credentials.session_token = "TOKEN"; });
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  const auto seen = server_->seen().back();
  EXPECT_EQ(seen.headers.at("x-amz-security-token"), "TOKEN");
  EXPECT_THAT(seen.headers.at("authorization"), HasSubstr("x-amz-security-token"));
}

TEST_F(S3Faults, GetAndHeadHaveNoBodyHeaders) {
  open();
  ASSERT_TRUE(store_->head("a", {}).ok());
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  ASSERT_TRUE(list_all(*store_, "", {}).ok());
  for (const auto& seen : server_->seen()) {
    for (const char* name : {"content-length", "content-type", "transfer-encoding", "expect"})
      EXPECT_THAT(seen.headers, Not(Contains(Key(name)))) << seen.method << " " << seen.target;
  }
}

TEST_F(S3Faults, AnEmptyObjectIsNeverRequestedWithItsPin) {
  open();
  server_->put("empty", "");
  const Pin pin = pin_of("empty");
  const auto before = server_->seen().size();
  EXPECT_TRUE(read_now(*store_, {.key = "empty", .pin = pin})->bytes.empty());
  EXPECT_EQ(server_->seen().size(), before);
  EXPECT_TRUE(read_now(*store_, {.key = "empty"})->bytes.empty());
}

TEST_F(S3Faults, KeysAreSentAsTheyAre) {
  open();
  const std::string key = "a/../b//./c d+e%2F&?#'ü";
  server_->put(key, "x");
  ASSERT_TRUE(read_now(*store_, {.key = key}).ok());
  EXPECT_EQ(server_->seen().back().target, "/b/a/../b//./c%20d%2Be%252F%26%3F%23%27%C3%BC");
}

TEST_F(S3Faults, AListInPlainXmlIsReadToo) {
  open({.url_encodes = false});
  for (const char* key : {"x+y", "x y", "x&y", "<x>", " "}) server_->put(key, "");
  const auto listed = list_all(*store_, "", {});
  ASSERT_TRUE(listed.ok()) << listed.error().to_string();
  std::vector<std::string> keys;
  for (const auto& object : *listed) keys.push_back(object.key);
  EXPECT_EQ(keys, (std::vector<std::string>{" ", "<x>", "a", "x y", "x&y", "x+y"}));
}

TEST_F(S3Faults, AListOfManyPagesCountsItsRequests) {
  open({.page = 10});
  for (int i = 0; i < 95; ++i) server_->put("k" + std::to_string(i), "");
  server_->plan(fail_first(1, "GET", s3_error(503, "SlowDown")));
  EXPECT_EQ(list_all(*store_, "", {})->size(), 96U);
  EXPECT_EQ(context_.metrics->get(Metric::requests_list), 11U);
  EXPECT_EQ(retries(), 1U);
}

TEST_F(S3Faults, GarbageInsteadOfAListIsAClearError) {
  open();
  for (const char* body : {"", "<html>login</html>", "\x01\x02", "<ListBucketResult><Contents>"}) {
    server_->plan(fail_first(2, "GET", {.body = body}));
    EXPECT_EQ(list_all(*store_, "", {})->size(), 1U);
    server_->plan(fail_first(1000, "GET", {.body = body}));
    const auto listed = list_all(*store_, "", {});
    ASSERT_FALSE(listed.ok());
    EXPECT_EQ(listed.error().code(), Code::corrupt) << body;
    EXPECT_EQ(listed.error().place(), "s3://b/");
  }
}

TEST_F(S3Faults, AListThatDoesNotGetOnEnds) {
  open();
  server_->plan([](const S3Seen&, HttpAnswer& right) {
    right.body =
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>same"
        "</NextContinuationToken></ListBucketResult>";
  });
  const auto listed = list_all(*store_, "", {});
  ASSERT_FALSE(listed.ok());
  EXPECT_EQ(listed.error().code(), Code::corrupt);
}

TEST_F(S3Faults, AListWithKeysOfElsewhereIsCorrupt) {
  open();
  server_->plan([](const S3Seen&, HttpAnswer& right) {
    right.body =
        "<ListBucketResult><Contents><Key>other/x</Key><Size>1</Size></Contents>"
        "</ListBucketResult>";
  });
  EXPECT_EQ(list_all(*store_, "wanted/", {}).error().code(), Code::corrupt);
}

TEST_F(S3Faults, ArchivedObjectsAreFlagged) {
  open({.storage_class = "DEEP_ARCHIVE"});
  EXPECT_TRUE(list_all(*store_, "", {})->front().archived);
  EXPECT_TRUE(store_->head("a", {})->archived);
  server_->plan(fail_first(1, "GET", s3_error(403, "InvalidObjectState")));
  const Error error = expect_error({.key = "a"});
  EXPECT_EQ(error.code(), Code::invalid);
  EXPECT_THAT(error.to_string(), HasSubstr("archived"));
}

TEST_F(S3Faults, RestoredObjectsAreNot) {
  open({.storage_class = "GLACIER"});
  server_->plan([](const S3Seen&, HttpAnswer& right) {
    right.headers.emplace_back("x-amz-restore", "ongoing-request=\"false\", expiry-date=\"x\"");
  });
  EXPECT_FALSE(store_->head("a", {})->archived);
  // A list tells if it is asked: it is of AWS only, since another server may not know the header.
  constexpr std::string_view kAsked = "x-amz-optional-object-attributes";
  EXPECT_TRUE(list_all(*store_, "", {})->front().archived);
  EXPECT_THAT(server_->seen().back().headers, Not(Contains(Key(kAsked))));
  open({.storage_class = "GLACIER"}, [this](S3Options& options) {
    options.settings->proxies.http = server_->endpoint();
    options.settings->endpoint = "http://s3.r1.amazonaws.com";
  });
  for (const char* in_progress : {"", "true", "false"}) {
    server_->plan([&](const S3Seen& request, HttpAnswer& right) {
      if (!request.headers.contains(std::string(kAsked)) || *in_progress == '\0') return;
      right.body.insert(right.body.find("</Contents>"),
                        "<RestoreStatus><IsRestoreInProgress>" + std::string(in_progress) +
                            "</IsRestoreInProgress></RestoreStatus>");
    });
    const auto listed = list_all(*store_, "", {});
    ASSERT_TRUE(listed.ok()) << listed.error().to_string();
    EXPECT_EQ(listed->front().archived, std::string_view(in_progress) != "false") << in_progress;
    EXPECT_THAT(server_->seen().back().headers.at("authorization"), HasSubstr(kAsked));
  }
}

TEST_F(S3Faults, AnUploadSurvivesThrottlingOfEachStep) {
  open();
  const std::string large = testing::pattern(3, (std::size_t{17} << 20U) + 5);
  for (const char* method : {"PUT", "POST"}) {
    server_->plan(fail_first(3, method, s3_error(503, "SlowDown")));
    const auto pin = put(*store_, "large", as_byte_span(large), {});
    ASSERT_TRUE(pin.ok()) << pin.error().to_string();
    const auto read = read_now(*store_, {.key = "large", .pin = *pin});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(read->bytes.text() == large);
    if (std::string(method) == "PUT") {
      EXPECT_EQ(server_->open_uploads(), 0U);
    }
  }
}

TEST_F(S3Faults, AnErrorBehindA200IsNoSuccess) {
  open();
  const std::string large = testing::pattern(3, std::size_t{9} << 20U);
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.method == "POST" && request.query.contains("uploadId"))
      right = {.body = "<Error><Code>InternalError</Code><Message>m</Message></Error>"};
  });
  const auto pin = put(*store_, "large", as_byte_span(large), {});
  ASSERT_FALSE(pin.ok());
}

TEST_F(S3Faults, AnUploadThatFailsIsAborted) {
  open();
  const std::string large = testing::pattern(3, std::size_t{17} << 20U);
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.query.contains("partNumber")) right = s3_error(403, "AccessDenied");
  });
  const auto pin = put(*store_, "large", as_byte_span(large), {});
  ASSERT_FALSE(pin.ok());
  EXPECT_EQ(pin.error().code(), Code::denied);
  EXPECT_EQ(server_->open_uploads(), 0U);
}

TEST_F(S3Faults, ConnectionsAreUsedAgain) {
  open({}, [](S3Options& options) { options.max_connections = 8; });
  const Pin pin = pin_of("a");
  std::latch all(200);
  for (int i = 0; i < 200; ++i) {
    store_->read({.key = "a", .range = {0, 1000}, .pin = pin},
                 [&all](const Result<ReadResult>& result) {
                   EXPECT_TRUE(result.ok());
                   all.count_down();
                 });
  }
  all.wait();
  EXPECT_LE(server_->connections(), 8);
}

TEST_F(S3Faults, AConnectionTheServerClosedMeanwhileIsNoFailure) {
  open();
  server_->plan([](const S3Seen&, HttpAnswer& right) { right.end = End::close; });
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(read_now(*store_, {.key = "a"}).ok());
}

TEST_F(S3Faults, AStopEndsRetries) {
  open({}, [](S3Options& options) { options.retry = {.attempts = 1000, .base = 10s, .cap = 10s}; });
  server_->plan(fail_first(1000, "GET", s3_error(503, "SlowDown")));
  std::stop_source stop;
  std::latch ended(1);
  store_->read({.key = "a", .stop = stop.get_token()}, [&ended](const Result<ReadResult>& result) {
    EXPECT_EQ(result.error().code(), Code::cancelled);
    ended.count_down();
  });
  while (server_->seen().empty()) std::this_thread::yield();
  stop.request_stop();
  ended.wait();
}

}  // namespace
}  // namespace headrace
