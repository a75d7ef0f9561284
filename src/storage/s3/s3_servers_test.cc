// SPDX-License-Identifier: Apache-2.0
// Servers that are right, each in its own way, and the roads that lead to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "headrace/storage/s3/service.h"
#include "headrace/storage/testing/s3_world.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace {
namespace {

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
using testing::S3TestServer;
using testing::TemporaryFolder;
using SecondList = S3Habits::SecondList;

const bool kRegistered =
    testing::register_store_conformance(
        s3_world("s3_list_v1_only", {.page = 7, .second_list = SecondList::ignored})) &&
    testing::register_store_conformance(
        s3_world("s3_list_v1_without_marker",
                 {.page = 7, .second_list = SecondList::ignored, .next_marker = false})) &&
    testing::register_store_conformance(
        s3_world("s3_list_v2_refused", {.page = 7, .second_list = SecondList::refused})) &&
    testing::register_store_conformance(s3_world("s3_checksums", {.checksums = true})) &&
    testing::register_store_conformance(s3_world("s3_virtual_host", {.virtual_host = true}));

class S3Servers : public testing::S3Test {
 protected:
  void expect_read() {
    const auto read = read_now(*store_, {.key = "a"});
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    EXPECT_TRUE(read->bytes.text() == text_);
  }
  std::string read_error() {
    const auto read = read_now(*store_, {.key = "a"});
    return read.ok() ? "it was read" : read.error().to_string();
  }
  std::vector<std::string> listed() {
    std::vector<std::string> keys;
    const auto objects = list_all(*store_, "", {});
    EXPECT_TRUE(objects.ok()) << objects.error().to_string();
    if (!objects.ok()) return keys;
    for (const auto& object : *objects) keys.push_back(object.key);
    return keys;
  }
};

TEST_F(S3Servers, AServerWithoutTheSecondListIsAskedForItOnce) {
  ASSERT_TRUE(kRegistered);
  open({.page = 3, .second_list = SecondList::refused});
  for (int i = 0; i < 7; ++i) server_->put("k" + std::to_string(i), "");
  EXPECT_EQ(listed().size(), 8U);
  EXPECT_EQ(listed().size(), 8U);
  int second = 0;
  for (const auto& seen : server_->seen()) second += seen.query.contains("list-type") ? 1 : 0;
  EXPECT_EQ(second, 1);
  EXPECT_EQ(server_->seen().size(), 1U + 3 + 3);
}

TEST_F(S3Servers, ARefusalOfBothListsIsTheFirstOne) {
  open();
  server_->plan([](const S3Seen& request, testing::HttpAnswer& right) {
    right = s3_error(400, request.query.contains("list-type") ? "InvalidFirst" : "InvalidSecond");
  });
  const auto objects = list_all(*store_, "", {});
  ASSERT_FALSE(objects.ok());
  EXPECT_THAT(objects.error().cause(), HasSubstr("InvalidFirst"));
}

TEST_F(S3Servers, AListGoesOnFromThePageThatFailed) {
  open({.page = 2});
  for (int i = 0; i < 9; ++i) server_->put("k" + std::to_string(i), "");
  int count = 0;
  server_->plan([&count](const S3Seen& request, testing::HttpAnswer& right) {
    if (request.query.contains("continuation-token") && ++count == 3)
      right = s3_error(503, "SlowDown");
  });
  EXPECT_EQ(listed().size(), 10U);
  std::map<std::string, int> asked;
  for (const auto& seen : server_->seen()) ++asked[seen.target];
  EXPECT_EQ(asked.size(), 5U);
  EXPECT_EQ(server_->seen().size(), 6U);  // no page is asked for twice but the one that failed
}

TEST_F(S3Servers, TheTortureListComesBackByteExact) {
  std::ifstream file(std::string(HEADRACE_TEST_DATA) + "/vectors/keys/keys.json");
  const auto golden = nlohmann::json::parse(file);
  for (const bool reverse : {false, true}) {
    open({.byte_order = !reverse, .page = 10});
    std::vector<std::string> keys = {"a"};
    for (const auto& entry : golden["keys"]) {
      std::string key;
      const std::string hex = entry["key_utf8_hex"];
      for (std::size_t i = 0; i < hex.size(); i += 2)
        key += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      const std::string content = "content of " + key;
      const auto pin = put(*store_, key, as_byte_span(content), {});
      ASSERT_TRUE(pin.ok()) << pin.error().to_string();
      const auto read = read_now(*store_, {.key = key, .pin = *pin});
      ASSERT_TRUE(read.ok()) << read.error().to_string();
      EXPECT_EQ(read->bytes.text(), content);
      EXPECT_EQ(server_->seen().back().key, key);
      const std::string encoded = entry["encoded_key"];
      EXPECT_EQ(server_->seen().back().target, "/b/" + encoded);
      keys.push_back(key);
    }
    std::ranges::sort(keys);
    EXPECT_EQ(listed(), keys);
  }
}

TEST_F(S3Servers, AChecksumIsAskedForAndMustHold) {
  open({.checksums = true});
  expect_read();
  EXPECT_EQ(server_->seen().back().headers.at("x-amz-checksum-mode"), "ENABLED");
  const auto corrupt = [](int count) {
    return
        [left = std::make_shared<int>(count)](const S3Seen& request, testing::HttpAnswer& right) {
          if (request.method == "GET" && (*left)-- > 0) right.body[77'777] ^= 1;
        };
  };
  server_->plan(corrupt(2));
  expect_read();
  EXPECT_EQ(context_.metrics->get(Metric::retries), 2U);
  server_->plan(corrupt(1000));
  EXPECT_THAT(read_error(), HasSubstr("checksum"));
}

TEST_F(S3Servers, AChecksumOfPartsIsNoChecksumOfTheWhole) {
  open();
  server_->plan([](const S3Seen&, testing::HttpAnswer& right) {
    right.headers.emplace_back("x-amz-checksum-crc64nvme", "AAAAAAAAAAA=-3");
  });
  expect_read();
}

TEST_F(S3Servers, WhoeverAsksPaysIfTheySaySo) {
  open({.requester_pays = true});
  EXPECT_THAT(read_error(), HasSubstr("AWS_REQUEST_PAYER=requester"));
  open({.requester_pays = true},
       [](S3Options& options) { options.settings->request_payer = true; });
  expect_read();
  EXPECT_EQ(listed(), std::vector<std::string>{"a"});
  EXPECT_THAT(server_->seen().back().headers.at("authorization"), HasSubstr("x-amz-request-payer"));
}

TEST_F(S3Servers, AVirtualHostIsSignedAsItIsAsked) {
  open({.virtual_host = true});
  expect_read();
  EXPECT_THAT(server_->seen().back().headers.at("host"), ::testing::StartsWith("b.localhost:"));
}

TEST_F(S3Servers, AProxyIsGoneThroughUnlessTheServerIsExempt) {
  open({}, [this](S3Options& options) {
    options.settings->proxies.http = server_->endpoint();
    options.settings->endpoint = "http://s3.nowhere.invalid:9000";
  });
  expect_read();
  EXPECT_EQ(server_->seen().back().headers.at("host"), "s3.nowhere.invalid:9000");
  for (const char* exempt : {"127.0.0.1", "x.example,127.0.0.0/8", "*"}) {
    open({}, [exempt](S3Options& options) {
      options.settings->proxies = {.http = "http://127.0.0.1:1", .https = {}, .none = exempt};
    });
    expect_read();
  }
}

TEST_F(S3Servers, TheEnvironmentsProxyIsOnlyTakenByItsReader) {
  // curl would take it; what counts is what the settings say.
  ::setenv("http_proxy", "http://127.0.0.1:1", 1);
  open();
  expect_read();
  ::unsetenv("http_proxy");
}

TEST_F(S3Servers, APrivateAuthorityIsTrustedIfItIsNamed) {
  const testing::TemporaryFolder folder;
  testing::TlsIdentity identity;
  const std::string bundle = folder.string() + "/ca.pem";
  std::ofstream(bundle) << identity.certificate();
  open({.tls = &identity}, [&](S3Options& options) { options.settings->ca_bundle = bundle; });
  expect_read();
  open({.tls = &identity});
  EXPECT_THAT(read_error(), HasSubstr("AWS_CA_BUNDLE"));
  EXPECT_EQ(context_.metrics->get(Metric::retries), 0U);
  open({.tls = &identity},
       [&](S3Options& options) { options.settings->ca_bundle = folder.string() + "/none.pem"; });
  EXPECT_THAT(read_error(), HasSubstr("none.pem"));
  store_.reset();
  server_.reset();  // before the identity
}

TEST_F(S3Servers, ACertificateOfAnotherHostIsNotTrusted) {
  const testing::TemporaryFolder folder;
  testing::TlsIdentity identity;  // of localhost, and not of b.localhost
  const std::string bundle = folder.string() + "/ca.pem";
  std::ofstream(bundle) << identity.certificate();
  open({.virtual_host = true, .tls = &identity},
       [&](S3Options& options) { options.settings->ca_bundle = bundle; });
  EXPECT_THAT(read_error(), HasSubstr("hostname mismatch"));
  EXPECT_EQ(context_.metrics->get(Metric::retries), 0U);
  store_.reset();
  server_.reset();  // before the identity
}

TEST_F(S3Servers, AKmsRefusalNamesTheKeyAndTheRight) {
  open();
  auto denied = s3_error(403, "AccessDenied");
  denied.body =
      "<Error><Code>AccessDenied</Code><Message>User: arn:aws:iam::1:user/u is not authorized to "
      "perform: kms:Decrypt on resource: arn:aws:kms:eu-west-1:1:key/2-3 because no policy "
      "allows it</Message></Error>";
  server_->plan(fail_first(100, "GET", denied));
  EXPECT_THAT(read_error(), HasSubstr("SSE-KMS"));
  EXPECT_THAT(read_error(), HasSubstr("arn:aws:kms:eu-west-1:1:key/2-3: allow kms:Decrypt"));
  server_->plan(fail_first(100, "GET", s3_error(400, "KMS.DisabledException")));
  EXPECT_THAT(read_error(), HasSubstr("kms:Decrypt"));
  EXPECT_EQ(context_.metrics->get(Metric::retries), 0U);
}

TEST_F(S3Servers, AnObjectThatTieredItselfIntoTheArchiveIsArchived) {
  open({.storage_class = "INTELLIGENT_TIERING"});
  EXPECT_FALSE(store_->head("a", {})->archived);
  server_->plan([](const S3Seen&, testing::HttpAnswer& right) {
    right.headers.emplace_back("x-amz-archive-status", "ARCHIVE_ACCESS");
  });
  EXPECT_TRUE(store_->head("a", {})->archived);
}

TEST_F(S3Servers, AClockThatIsWrongShowsInAHeadTooWhichHasNoBody) {
  open();
  server_->plan(fail_first(
      1, "HEAD", {.status = 403, .headers = {{"Date", "Sat, 01 Jan 2050 00:00:00 GMT"}}}));
  ASSERT_TRUE(store_->head("a", {}).ok());
  EXPECT_THAT(server_->seen().back().headers.at("x-amz-date"), HasSubstr("20500101T0000"));
  server_->plan(fail_first(
      100, "HEAD", {.status = 403, .headers = {{"Date", "Sat, 01 Jan 2050 00:00:00 GMT"}}}));
  const auto before = server_->seen().size();
  EXPECT_EQ(store_->head("a", {}).error().code(), Code::denied);
  EXPECT_EQ(server_->seen().size(), before + 1);  // the clock is right now: it is something else
}

// In the middle of reads and of a list: the way to the keys is gone again, and it goes on.
TEST_F(S3Servers, KeysThatExpireWhileItReadsAreGotAnewAndTheRequestIsMadeAgain) {
  const TemporaryFolder folder;
  const std::string count = folder.string() + "/count";
  const std::string program =
      "printf x >> " + count + R"(; printf '{"Version":1,"AccessKeyId":"AKIA%d",)" +
      R"("SecretAccessKey":"S","SessionToken":"T"}' $(wc -c < )" + count + ")";
  open({.page = 1}, [&program](S3Options& options) {
    options.settings->credentials = {};
    options.settings->way =
        s3::Way{.how = s3::Process{program}, .source = "a test", .sts = {}, .region = {}};
  });
  server_->put("b", "second");
  ASSERT_TRUE(read_now(*store_, {.key = "a"}).ok());
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    if (request.headers.at("authorization").find("AKIA1/") != std::string::npos)
      right = s3_error(400, "ExpiredToken");
  });
  const auto read = read_now(*store_, {.key = "a"});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  server_->plan([](const S3Seen& request, HttpAnswer& right) {
    const bool second_page = request.query.contains("continuation-token");
    const std::string& as = request.headers.at("authorization");
    if (as.find("AKIA1/") != std::string::npos ||
        (second_page && as.find("AKIA2/") != std::string::npos)) {
      right = s3_error(400, "ExpiredToken");
    }
  });
  const auto listed = list_all(*store_, "", {});
  ASSERT_TRUE(listed.ok()) << listed.error().to_string();
  EXPECT_EQ(listed->size(), 2U);
  EXPECT_THAT(server_->seen().back().headers.at("authorization"), HasSubstr("AKIA3/"));
  int first_pages = 0;
  for (const auto& seen : server_->seen()) {
    const bool is_list = seen.query.contains("list-type");
    first_pages += is_list && !seen.query.contains("continuation-token") ? 1 : 0;
  }
  EXPECT_EQ(first_pages, 1) << "it goes on from the page that was refused";
}

// Nodes of one job that were turned away together do not come back together.
TEST_F(S3Servers, TwoStoresWaitForDifferentTimes) {
  std::vector<std::uint64_t> firsts;
  for (int i = 0; i < 2; ++i) {
    S3TestServer server;
    S3Options options = server.options();
    options.retry_seed = 0;  // as users have it
    auto service = s3::Service::make("b", context_, options, {});
    ASSERT_TRUE(service.ok());
    firsts.push_back((*service)->next_seed());
  }
  EXPECT_NE(firsts[0], firsts[1]);
}

TEST_F(S3Servers, AnUnsignedRequestSaysWhyItWas) {
  open({}, [](S3Options& options) {
    options.settings->credentials = {.source = "AWS_NO_SIGN_REQUEST is set"};
  });
  expect_read();
  EXPECT_THAT(server_->seen().back().headers, Not(Contains(Key("authorization"))));
  server_->plan(fail_first(100, "GET", s3_error(403, "AccessDenied")));
  EXPECT_THAT(read_error(), HasSubstr("unsigned: AWS_NO_SIGN_REQUEST is set"));
}

}  // namespace
}  // namespace headrace
