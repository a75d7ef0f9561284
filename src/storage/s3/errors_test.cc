// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/errors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::s3 {
namespace {

using ::testing::HasSubstr;

Judgement judge_of(int status, const std::string& code, const std::string& access_key = "AKX") {
  return judge({.status = status,
                .answer = {.code = code, .message = "because"},
                .bucket = "b",
                .server = "http://h:1",
                .region = "us-east-1",
                .access_key = access_key,
                .source = "the environment"});
}

TEST(Judge, StatusAndCodeBecomeOurCode) {
  EXPECT_EQ(judge_of(404, "NoSuchKey").error.code(), Code::not_found);
  EXPECT_EQ(judge_of(404, "").error.code(), Code::not_found);
  EXPECT_EQ(judge_of(412, "PreconditionFailed").error.code(), Code::changed);
  EXPECT_EQ(judge_of(416, "InvalidRange").error.code(), Code::invalid);
  EXPECT_EQ(judge_of(400, "InvalidArgument").error.code(), Code::invalid);
  EXPECT_EQ(judge_of(501, "NotImplemented").error.code(), Code::invalid);
  EXPECT_EQ(judge_of(302, "").error.code(), Code::invalid);
}

TEST(Judge, WhatMayPassIsTriedAgainAndNeverNotFound) {
  for (const int status : {429, 500, 502, 503, 504, 599}) {
    EXPECT_EQ(judge_of(status, "SlowDown").error.code(), Code::unavailable) << status;
    EXPECT_EQ(judge_of(status, "").again, Again::yes) << status;
  }
  EXPECT_EQ(judge_of(400, "RequestTimeout").again, Again::yes);
  EXPECT_EQ(judge_of(409, "OperationAborted").again, Again::yes);
  EXPECT_EQ(judge_of(404, "NoSuchKey").again, Again::no);
  EXPECT_EQ(judge_of(403, "AccessDenied").again, Again::no);
}

TEST(Judge, DeniedSaysAsWhomAndWhatToDo) {
  const auto text = [](const std::string& code, const std::string& key = "AKX") {
    const auto judgement = judge_of(403, code, key);
    EXPECT_EQ(judgement.error.code(), Code::denied);
    return judgement.error.to_string();
  };
  EXPECT_THAT(text("AccessDenied"), HasSubstr("as AKX from the environment"));
  EXPECT_THAT(text("AccessDenied"), HasSubstr("s3:GetObject"));
  EXPECT_THAT(text("InvalidAccessKeyId"), HasSubstr("check AWS_ACCESS_KEY_ID"));
  EXPECT_THAT(text("SignatureDoesNotMatch"), HasSubstr("check AWS_SECRET_ACCESS_KEY"));
  EXPECT_THAT(text("ExpiredToken"), HasSubstr("AWS_SESSION_TOKEN"));
  EXPECT_THAT(text("RequestTimeTooSkewed"), HasSubstr("clock"));
  EXPECT_THAT(text("AccessDenied", ""), HasSubstr("unsigned"));
  EXPECT_THAT(text("AccessDenied", ""), HasSubstr("AWS_PROFILE"));
  EXPECT_EQ(judge_of(400, "ExpiredToken").error.code(), Code::denied);
}

TEST(Judge, TheBucketTheRegionAndTheArchiveAreNamed) {
  EXPECT_THAT(judge_of(404, "NoSuchBucket").error.to_string(),
              HasSubstr("no bucket b at http://h:1"));
  EXPECT_THAT(judge_of(301, "PermanentRedirect").error.remedy(), HasSubstr("AWS_REGION"));
  EXPECT_THAT(judge_of(400, "AuthorizationHeaderMalformed").error.remedy(),
              HasSubstr("AWS_REGION"));
  EXPECT_THAT(judge_of(403, "InvalidObjectState").error.to_string(), HasSubstr("archived"));
}

}  // namespace
}  // namespace headrace::s3
