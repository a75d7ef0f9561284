// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "headrace/storage/testing/temporary_folder.h"

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;

class AwsSettings : public ::testing::Test {
 protected:
  AwsSettings() { variables_["HOME"] = folder_.string(); }
  void write(const std::string& name, const std::string& text) {
    std::filesystem::create_directories((folder_.path() / name).parent_path());
    std::ofstream(folder_.path() / name) << text;
  }
  Result<Settings> load() {
    return load_settings([this](const char* name) -> std::optional<std::string> {
      const auto found = variables_.find(name);
      if (found == variables_.end()) return std::nullopt;
      return found->second;
    });
  }
  testing::TemporaryFolder folder_;
  std::map<std::string, std::string> variables_;
};

TEST_F(AwsSettings, NothingSaidIsUnsigned) {
  variables_["AWS_EC2_METADATA_DISABLED"] = "1";
  const auto settings = load();
  ASSERT_TRUE(settings.ok()) << settings.error().to_string();
  EXPECT_TRUE(settings->credentials.unsigned_mode());
  EXPECT_EQ(settings->region, "");
  EXPECT_EQ(settings->endpoint, "");
}

TEST_F(AwsSettings, TheEnvironmentComesFirst) {
  write(".aws/credentials", "[default]\naws_access_key_id=F\naws_secret_access_key=G\n");
  variables_["AWS_ACCESS_KEY_ID"] = "A";
  variables_["AWS_SECRET_ACCESS_KEY"] = "S";
  variables_["AWS_SESSION_TOKEN"] = "T";
  variables_["AWS_DEFAULT_REGION"] = "r2";
  variables_["AWS_ENDPOINT_URL"] = "http://e";
  auto settings = load();
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->credentials.access_key, "A");
  EXPECT_EQ(settings->credentials.secret_key, "S");
  EXPECT_EQ(settings->credentials.session_token, "T");
  EXPECT_EQ(settings->credentials.source, "the environment");
  EXPECT_EQ(settings->region, "r2");
  EXPECT_EQ(settings->endpoint, "http://e");
  variables_["AWS_REGION"] = "r1";
  variables_["AWS_ENDPOINT_URL_S3"] = "http://s3";
  settings = load();
  EXPECT_EQ(settings->region, "r1");
  EXPECT_EQ(settings->endpoint, "http://s3");
}

TEST_F(AwsSettings, AttemptsAreANumberFromOne) {
  EXPECT_FALSE(load()->max_attempts);
  variables_["AWS_MAX_ATTEMPTS"] = "3";
  EXPECT_EQ(load()->max_attempts, 3);
  for (const char* wrong : {"0", "-1", "three", "3 ", "1001", "99999999999"}) {
    variables_["AWS_MAX_ATTEMPTS"] = wrong;
    const auto loaded = load();
    ASSERT_FALSE(loaded.ok()) << wrong;
    EXPECT_EQ(loaded.error().code(), Code::invalid);
    EXPECT_NE(loaded.error().to_string().find("AWS_MAX_ATTEMPTS"), std::string::npos);
  }
}

TEST_F(AwsSettings, HalfAKeyPairIsInvalid) {
  variables_["AWS_ACCESS_KEY_ID"] = "A";
  ASSERT_FALSE(load().ok());
  EXPECT_EQ(load().error().code(), Code::invalid);
}

TEST_F(AwsSettings, ProfilesOfBothFiles) {
  write(".aws/credentials",
        "# comment\n[default]\naws_access_key_id = D\naws_secret_access_key = E\n\n"
        "[work]\r\naws_access_key_id=W\r\naws_secret_access_key=a/b+c=\r\naws_session_token=T\r\n");
  write(".aws/config",
        "[default]\nregion = eu-west-1 ; near\n[profile work]\nregion=us-west-2\n"
        "endpoint_url = http://x\ns3 =\n  addressing_style = path\n"
        "[profile only-config]\naws_access_key_id=C\naws_secret_access_key=K\n");
  auto settings = load();
  ASSERT_TRUE(settings.ok()) << settings.error().to_string();
  EXPECT_EQ(settings->credentials.access_key, "D");
  EXPECT_EQ(settings->region, "eu-west-1");
  variables_["AWS_PROFILE"] = "work";
  settings = load();
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->credentials.access_key, "W");
  EXPECT_EQ(settings->credentials.secret_key, "a/b+c=");
  EXPECT_EQ(settings->credentials.session_token, "T");
  EXPECT_EQ(settings->region, "us-west-2");
  EXPECT_EQ(settings->endpoint, "http://x");
  EXPECT_THAT(settings->credentials.source, HasSubstr("profile work of"));
  variables_["AWS_PROFILE"] = "only-config";
  EXPECT_EQ(load()->credentials.access_key, "C");
}

TEST_F(AwsSettings, FilesMayLieElsewhere) {
  write("elsewhere/c", "[default]\naws_access_key_id=D\naws_secret_access_key=E\n");
  write("elsewhere/f", "[default]\nregion=r\nca_bundle=/ca.pem\n");
  variables_["AWS_SHARED_CREDENTIALS_FILE"] = "~/elsewhere/c";
  variables_["AWS_CONFIG_FILE"] = folder_.string() + "/elsewhere/f";
  const auto settings = load();
  ASSERT_TRUE(settings.ok());
  EXPECT_EQ(settings->credentials.access_key, "D");
  EXPECT_EQ(settings->region, "r");
  EXPECT_EQ(settings->ca_bundle, "/ca.pem");
}

TEST_F(AwsSettings, AProfileThatIsNotThereIsNamed) {
  variables_["AWS_PROFILE"] = "wrok";
  const auto settings = load();
  ASSERT_FALSE(settings.ok());
  EXPECT_EQ(settings.error().code(), Code::invalid);
  EXPECT_THAT(settings.error().cause(), HasSubstr("wrok"));
}

TEST_F(AwsSettings, WaysToGetKeysThatAreNotSupportedAreNamed) {
  write(".aws/config",
        "[default]\nsso_session = my-sso\nsso_account_id = 1\n[profile old]\nsso_start_url=x\n"
        "[profile console]\nlogin_session=x\n");
  const auto cause = [this](const std::string& profile) {
    variables_["AWS_PROFILE"] = profile;
    const auto settings = load();
    return settings.ok() ? "ok" : settings.error().to_string();
  };
  EXPECT_THAT(cause("default"), HasSubstr("SSO"));
  EXPECT_THAT(cause("default"), HasSubstr("aws configure export-credentials --profile default"));
  EXPECT_THAT(cause("old"), HasSubstr("SSO"));
  EXPECT_THAT(cause("console"), HasSubstr("login_session"));
}

TEST_F(AwsSettings, TheOrderOfTheWays) {
  const auto way = [this] {
    const auto settings = load();
    EXPECT_TRUE(settings.ok()) << settings.error().to_string();
    return settings->way ? static_cast<int>(settings->way->how.index()) : -1;
  };
  variables_["AWS_EC2_METADATA_DISABLED"] = "true";
  EXPECT_EQ(way(), -1);
  variables_.erase("AWS_EC2_METADATA_DISABLED");
  EXPECT_EQ(way(), 4);  // the instance
  variables_["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"] = "/x";
  EXPECT_EQ(way(), 3);
  EXPECT_EQ(std::get<Container>(load()->way->how).url, "http://169.254.170.2/x");
  write(".aws/config", "[default]\ncredential_process=x\n");
  EXPECT_EQ(way(), 5);
  variables_["AWS_WEB_IDENTITY_TOKEN_FILE"] = "/t";
  EXPECT_EQ(way(), 2);
  EXPECT_EQ(load()->way->sts, "https://sts.us-east-1.amazonaws.com");
  variables_["AWS_REGION"] = "cn-north-1";
  EXPECT_EQ(load()->way->sts, "https://sts.cn-north-1.amazonaws.com.cn");
  write(".aws/config", "[default]\nrole_arn=x\ncredential_source=Ec2InstanceMetadata\n");
  EXPECT_EQ(way(), 1);
  variables_["AWS_ACCESS_KEY_ID"] = "A";
  variables_["AWS_SECRET_ACCESS_KEY"] = "S";
  EXPECT_EQ(way(), -1);
  EXPECT_EQ(load()->credentials.access_key, "A");
  variables_["AWS_NO_SIGN_REQUEST"] = "YES";
  EXPECT_TRUE(load()->credentials.unsigned_mode());
}

TEST_F(AwsSettings, HowTheServerIsAddressed) {
  EXPECT_EQ(load()->addressing, Addressing::automatic);
  write(".aws/config", "[default]\ns3 =\n  addressing_style = virtual\n");
  EXPECT_EQ(load()->addressing, Addressing::virtual_host);
  variables_["AWS_VIRTUAL_HOSTING"] = "FALSE";
  EXPECT_EQ(load()->addressing, Addressing::path);
  variables_["AWS_USE_DUALSTACK_ENDPOINT"] = "true";
  variables_["AWS_REQUEST_PAYER"] = "requester";
  EXPECT_TRUE(load()->dualstack);
  EXPECT_FALSE(load()->fips);
  EXPECT_TRUE(load()->request_payer);
  for (const char* name : {"AWS_USE_FIPS_ENDPOINT", "AWS_REQUEST_PAYER", "AWS_NO_SIGN_REQUEST"}) {
    const auto before = variables_[name];
    variables_[name] = "perhaps";
    ASSERT_FALSE(load().ok());
    EXPECT_THAT(load().error().to_string(), HasSubstr(name));
    variables_[name] = before;
  }
}

TEST_F(AwsSettings, ProxiesAndWhoNeedsNone) {
  variables_["HTTP_PROXY"] = "http://upper:1";
  variables_["https_proxy"] = "socks5h://user:p@[::1]:1080/";
  variables_["NO_PROXY"] = "a,.b";
  auto proxies = load()->proxies;
  EXPECT_EQ(proxies.of("http://x"), "http://upper:1");
  EXPECT_EQ(proxies.of("https://x"), "socks5h://user:p@[::1]:1080/");
  EXPECT_EQ(proxies.none, "a,.b");
  variables_["http_proxy"] = "lower";
  EXPECT_EQ(load()->proxies.http, "lower");
  for (const char* bad : {"http://", "ftp://h", "http://h:port", "http://u:SECRET@h h",
                          "h:", "http://[::1", "\"http://h\""}) {
    variables_["https_proxy"] = bad;
    const auto settings = load();
    ASSERT_FALSE(settings.ok()) << bad;
    EXPECT_THAT(settings.error().to_string(), HasSubstr("https_proxy"));
    EXPECT_THAT(settings.error().to_string(), ::testing::Not(HasSubstr("SECRET")));
  }
}

TEST(ParseProfiles, WhatIsNoIniIsLeftOut) {
  EXPECT_TRUE(parse_profiles("").empty());
  EXPECT_TRUE(parse_profiles("a=b\n=\n[\n]x\n").empty());
  const auto profiles = parse_profiles("[ profile  'a b' ]\nx\n = y\nk = v#w\nk2 = v #w");
  ASSERT_EQ(profiles.size(), 1U);
  EXPECT_EQ(profiles.begin()->first, "a b");
  EXPECT_EQ(profiles.at("a b").at("k"), "v#w");
  EXPECT_EQ(profiles.at("a b").at("k2"), "v");
}

}  // namespace
}  // namespace headrace::s3
