// SPDX-License-Identifier: Apache-2.0
// Each way to keys, from the environment to the answer of a server that stands for AWS's.
#include "headrace/storage/s3/obtain.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/base/mutex.h"
#include "headrace/storage/testing/http_server.h"
#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;
using testing::HttpAnswer;
using testing::HttpSeen;
using ::testing::Not;

constexpr const char* kSecret = "SECRET-OF-AWS";

std::string sts_answer(const std::string& action, const std::string& access) {
  return fmt::format(
      "<{0}Response xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><{0}Result><Credentials>"
      "<AccessKeyId>{1}</AccessKeyId><SecretAccessKey>{2}</SecretAccessKey><SessionToken>ST"
      "</SessionToken><Expiration>2033-05-18T03:33:20Z</Expiration></Credentials></{0}Result>"
      "</{0}Response>",
      action, access, kSecret);
}
std::string json_answer(const std::string& access) {
  return fmt::format(
      R"({{"Code":"Success","AccessKeyId":"{}","SecretAccessKey":"{}","Token":"T","Expiration":"2033-05-18T03:33:20Z"}})",
      access, kSecret);
}
constexpr std::int64_t kExpiration = 2'000'000'000;

class Obtaining : public ::testing::Test {
 protected:
  Obtaining() {
    variables_["HOME"] = folder_.string();
    variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  }
  void serve(testing::HttpServer::Handler handler) {
    server_ = std::make_unique<testing::HttpServer>(
        [this, handler = std::move(handler)](const HttpSeen& seen) {
          {
            const MutexLock lock(mutex_);
            seen_.push_back(seen);
          }
          return handler(seen);
        });
    url_ = fmt::format("http://127.0.0.1:{}", server_->port());
  }
  HttpSeen seen(std::size_t index) {
    const MutexLock lock(mutex_);
    return seen_.at(index);
  }
  std::size_t asked() {
    const MutexLock lock(mutex_);
    return seen_.size();
  }
  std::string write(const std::string& name, const std::string& text) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }
  Result<Credentials> get() {
    HEADRACE_TRY(const Settings settings,
                 load_settings([this](const char* name) -> std::optional<std::string> {
                   const auto found = variables_.find(name);
                   if (found == variables_.end()) return std::nullopt;
                   return found->second;
                 }));
    if (!settings.way) return settings.credentials;
    return obtain(*settings.way, settings, clock_, {});
  }
  std::string error() {
    const auto got = get();
    if (got.ok()) return "no error";
    EXPECT_THAT(got.error().to_string(), Not(HasSubstr(kSecret)));
    return got.error().to_string();
  }

  testing::TemporaryFolder folder_;
  std::map<std::string, std::string> variables_;
  ManualClock clock_;
  Mutex mutex_;
  std::vector<HttpSeen> seen_ HEADRACE_GUARDED_BY(mutex_);
  std::string url_;
  std::unique_ptr<testing::HttpServer> server_;
};

TEST_F(Obtaining, ARoleIsAssumedWithTheKeysOfItsSourceProfile) {
  serve([](const HttpSeen&) { return HttpAnswer{.body = sts_answer("AssumeRole", "ASIA1")}; });
  write(".aws/credentials", "[base]\naws_access_key_id=AKBASE\naws_secret_access_key=S\n");
  write(".aws/config",
        "[profile train]\nrole_arn = arn:aws:iam::1:role/r+x\nsource_profile = base\n"
        "external_id = e&1\nrole_session_name = me\nregion = eu-west-1\n");
  variables_["AWS_PROFILE"] = "train";
  variables_["AWS_ENDPOINT_URL_STS"] = url_;
  const auto got = get();
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  EXPECT_EQ(got->access_key, "ASIA1");
  EXPECT_EQ(got->secret_key, kSecret);
  EXPECT_EQ(got->session_token, "ST");
  EXPECT_EQ(got->expires, kExpiration);
  EXPECT_THAT(got->source, HasSubstr("profile train"));
  EXPECT_EQ(seen(0).method, "POST");
  EXPECT_EQ(seen(0).headers.at("content-type"), "application/x-www-form-urlencoded");
  EXPECT_EQ(seen(0).body,
            "Action=AssumeRole&ExternalId=e%261&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr%2Bx&"
            "RoleSessionName=me&Version=2011-06-15");
  EXPECT_THAT(seen(0).headers.at("authorization"), HasSubstr("Credential=AKBASE/"));
  EXPECT_THAT(seen(0).headers.at("authorization"), HasSubstr("/eu-west-1/sts/aws4_request"));
}

TEST_F(Obtaining, RolesMayBeChained) {
  serve([](const HttpSeen& request) {
    const bool second = request.body.find("outer") != std::string::npos;
    return HttpAnswer{.body = sts_answer("AssumeRole", second ? "OUTER" : "INNER")};
  });
  write(".aws/config",
        "[profile outer]\nrole_arn=outer\nsource_profile=inner\n[profile inner]\nrole_arn=inner\n"
        "source_profile=inner\naws_access_key_id=AKBASE\naws_secret_access_key=S\n");
  variables_["AWS_PROFILE"] = "outer";
  variables_["AWS_ENDPOINT_URL_STS"] = url_;
  ASSERT_EQ(get()->access_key, "OUTER");
  EXPECT_THAT(seen(1).headers.at("authorization"), HasSubstr("Credential=INNER/"));
  EXPECT_EQ(seen(1).headers.at("x-amz-security-token"), "ST");
}

TEST_F(Obtaining, ARoleThatCannotBeAssumedIsExplained) {
  serve([](const HttpSeen&) {
    return HttpAnswer{.status = 403,
                      .body =
                          "<ErrorResponse><Error><Code>AccessDenied</Code><Message>not "
                          "authorized</Message></Error></ErrorResponse>"};
  });
  write(".aws/config",
        "[profile r]\nrole_arn=x\nsource_profile=b\n[profile b]\naws_access_key_id=AKBASE\n"
        "aws_secret_access_key=SECRET-OF-AWS\n[profile circle]\nrole_arn=x\nsource_profile=back\n"
        "[profile back]\nrole_arn=x\nsource_profile=circle\n[profile gone]\nrole_arn=x\n"
        "source_profile=no\n[profile alone]\nrole_arn=x\n[profile mfa]\nrole_arn=x\nmfa_serial=y\n"
        "source_profile=b\n");
  variables_["AWS_ENDPOINT_URL_STS"] = url_;
  const auto of = [this](const std::string& profile) {
    variables_["AWS_PROFILE"] = profile;
    return error();
  };
  EXPECT_THAT(of("r"), HasSubstr("AccessDenied: not authorized"));
  EXPECT_THAT(of("r"), HasSubstr("allow sts:AssumeRole to AKBASE"));
  EXPECT_THAT(of("circle"), HasSubstr("circle"));
  EXPECT_THAT(of("gone"), HasSubstr("no profile no"));
  EXPECT_THAT(of("alone"), HasSubstr("credential_source"));
  EXPECT_THAT(of("mfa"), HasSubstr("mfa_serial"));
}

TEST_F(Obtaining, AWebIdentityTokenIsReadAnewEachTime) {
  serve([](const HttpSeen&) {
    return HttpAnswer{.body = sts_answer("AssumeRoleWithWebIdentity", "ASIA2")};
  });
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = write("token", "first+token\n");
  variables_["AWS_ENDPOINT_URL_STS"] = url_;
  EXPECT_THAT(error(), HasSubstr("AWS_ROLE_ARN"));
  variables_["AWS_ROLE_ARN"] = "arn:aws:iam::1:role/k8s";
  ASSERT_TRUE(get().ok()) << error();
  EXPECT_THAT(seen(0).body, HasSubstr("WebIdentityToken=first%2Btoken"));
  EXPECT_THAT(seen(0).headers, Not(::testing::Contains(::testing::Key("authorization"))));
  write("token", "second");
  ASSERT_TRUE(get().ok());
  EXPECT_THAT(seen(1).body, HasSubstr("WebIdentityToken=second"));
  std::filesystem::remove(folder_.path() / "token");
  EXPECT_THAT(error(), HasSubstr("token file"));
}

TEST_F(Obtaining, AContainerIsAskedWithItsTokenFile) {
  serve([](const HttpSeen& request) {
    return request.headers.contains("authorization") ? HttpAnswer{.body = json_answer("ASIA3")}
                                                     : HttpAnswer{.status = 403};
  });
  variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = url_ + "/v1/credentials?id=1";
  variables_["http_proxy"] = "http://127.0.0.1:1";  // which cannot reach what is on this machine
  EXPECT_THAT(error(), HasSubstr("AWS_CONTAINER_AUTHORIZATION_TOKEN"));
  variables_["AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"] = write("t", "abc\n");
  const auto got = get();
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  EXPECT_EQ(got->access_key, "ASIA3");
  EXPECT_EQ(got->session_token, "T");
  EXPECT_EQ(got->expires, kExpiration);
  EXPECT_EQ(seen(1).target, "/v1/credentials?id=1");
  EXPECT_EQ(seen(1).headers.at("authorization"), "abc");
  for (const char* stranger : {"http://example.com/x", "http://169.254.170.2.example.com/",
                               "http://localhost.example.com/"}) {
    variables_["AWS_CONTAINER_CREDENTIALS_FULL_URI"] = stranger;
    EXPECT_THAT(error(), HasSubstr("AWS_CONTAINER_CREDENTIALS_FULL_URI")) << stranger;
  }
}

TEST_F(Obtaining, AnInstanceIsAskedByTokenForItsRolesKeys) {
  serve([](const HttpSeen& request) -> HttpAnswer {
    if (request.method == "PUT") return {.body = "IMDS-TOKEN"};
    if (!request.headers.contains("x-aws-ec2-metadata-token")) return {.status = 401};
    if (request.target.ends_with("security-credentials/")) return {.body = "my-role\n"};
    return {.body = json_answer("ASIA4")};
  });
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = url_ + "/";
  variables_["http_proxy"] = "http://127.0.0.1:1";
  EXPECT_TRUE(get()->unsigned_mode());  // it is disabled
  EXPECT_EQ(asked(), 0U);
  variables_["AWS_EC2_METADATA_DISABLED"] = "false";
  const auto got = get();
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  EXPECT_EQ(got->access_key, "ASIA4");
  EXPECT_EQ(seen(0).headers.at("x-aws-ec2-metadata-token-ttl-seconds"), "21600");
  EXPECT_EQ(seen(2).target, "/latest/meta-data/iam/security-credentials/my-role");
  EXPECT_EQ(seen(2).headers.at("x-aws-ec2-metadata-token"), "IMDS-TOKEN");
}

TEST_F(Obtaining, AnInstanceThatDoesNotAnswerIsGivenUpInSecondsWithAdvice) {
  serve([](const HttpSeen&) { return HttpAnswer{.end = HttpAnswer::End::hang, .nothing = true}; });
  variables_["AWS_EC2_METADATA_SERVICE_ENDPOINT"] = url_;
  variables_["AWS_EC2_METADATA_DISABLED"] = "false";
  EXPECT_THAT(error(), HasSubstr("--http-put-response-hop-limit 2"));
  EXPECT_EQ(asked(), 2U);
}

TEST_F(Obtaining, AwayFromAwsNoInstanceIsAsked) {
  variables_.erase("AWS_EC2_METADATA_DISABLED");
  variables_["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9000";
  EXPECT_TRUE(get()->unsigned_mode());
}

TEST_F(Obtaining, AProgramPrintsKeys) {
  write(
      ".aws/config",
      "[profile p]\ncredential_process = echo "
      R"('{"Version":1,"AccessKeyId":"ASIA5","SecretAccessKey":"S","SessionToken":"T","Expiration":"2033-05-18T03:33:20Z"}')"
      "\n[profile fails]\ncredential_process = echo SECRET-OF-AWS; exit 3\n"
      "[profile odd]\ncredential_process = echo SECRET-OF-AWS\n"
      "[profile old]\ncredential_process = echo '{\"Version\":2}'\n");
  const auto of = [this](const std::string& profile) {
    variables_["AWS_PROFILE"] = profile;
    return error();
  };
  variables_["AWS_PROFILE"] = "p";
  const auto got = get();
  ASSERT_TRUE(got.ok()) << got.error().to_string();
  EXPECT_EQ(got->access_key, "ASIA5");
  EXPECT_EQ(got->session_token, "T");
  EXPECT_EQ(got->expires, kExpiration);
  EXPECT_THAT(of("fails"), HasSubstr("ended with code 3"));
  EXPECT_THAT(of("odd"), HasSubstr("no JSON"));
  EXPECT_THAT(of("old"), HasSubstr("Version"));
}

TEST_F(Obtaining, AStopEndsAProgramThatHangs) {
  std::stop_source stop;
  std::jthread soon([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop.request_stop();
  });
  const Way way{.how = Process{"sleep 1000"}, .source = "a test", .sts = {}, .region = {}};
  const auto got = obtain(way, {}, clock_, stop.get_token());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code(), Code::cancelled);
}

}  // namespace
}  // namespace headrace::s3
