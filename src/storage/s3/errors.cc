// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headrace::s3 {
namespace {

std::string said(const Refusal& refusal) {
  if (refusal.answer.code.empty()) return fmt::format("HTTP {}", refusal.status);
  if (refusal.answer.message.empty())
    return fmt::format("HTTP {} {}", refusal.status, refusal.answer.code);
  return fmt::format("HTTP {} {}: {}", refusal.status, refusal.answer.code, refusal.answer.message);
}

std::string who(const Refusal& refusal) {
  if (refusal.access_key.empty()) {
    if (refusal.source.empty()) return "the request was unsigned, as no credentials were found";
    return fmt::format("the request was unsigned: {}", refusal.source);
  }
  return fmt::format("as {} from {}", refusal.access_key, refusal.source);
}

/// "… on resource: arn:aws:kms:eu-west-1:1:key/2 because …" → the ARN
std::string kms_key(std::string_view message) {
  const auto begin = message.find("arn:aws");
  for (auto at = begin; at != std::string_view::npos; at = message.find("arn:aws", at + 1)) {
    const std::string_view arn = message.substr(at, message.find_first_of(" ,\"'<", at) - at);
    if (arn.find(":kms:") != std::string_view::npos) return std::string(arn);
  }
  return "a KMS key";
}

Judgement denied(const Refusal& refusal) {
  const std::string& code = refusal.answer.code;
  if (code == "InvalidObjectState") {
    return {Error(Code::invalid, "the object is archived: " + said(refusal),
                  "restore it first (aws s3api restore-object), or leave it out")};
  }
  std::string remedy;
  if (refusal.access_key.empty()) {
    remedy =
        "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or AWS_PROFILE; only public buckets can "
        "be read without";
  } else if (code == "InvalidAccessKeyId") {
    remedy = "this server does not know the key: check AWS_ACCESS_KEY_ID and the endpoint";
  } else if (code == "SignatureDoesNotMatch") {
    remedy = "the secret does not belong to the key: check AWS_SECRET_ACCESS_KEY";
  } else if (code.starts_with("ExpiredToken") || code == "InvalidToken" ||
             code == "TokenRefreshRequired") {
    remedy = "get new temporary credentials, with AWS_SESSION_TOKEN";
  } else if (code == "RequestTimeTooSkewed") {
    remedy = "set this machine's clock";
  } else if (refusal.answer.message.find("kms:") != std::string::npos || code.starts_with("KMS")) {
    remedy = fmt::format("the object is SSE-KMS, encrypted with {}: allow kms:Decrypt on it",
                         kms_key(refusal.answer.message));
  } else {
    remedy =
        "allow s3:ListBucket on the bucket and s3:GetObject on its objects; if the requester "
        "pays for this bucket set AWS_REQUEST_PAYER=requester; if it is public and the keys are of "
        "elsewhere set AWS_NO_SIGN_REQUEST=true; objects may also need kms:Decrypt on their key";
  }
  return {Error(Code::denied, fmt::format("{} ({})", said(refusal), who(refusal)), remedy)};
}

Judgement not_found(const Refusal& refusal) {
  if (refusal.answer.code == "NoSuchBucket") {
    return {Error(Code::not_found,
                  fmt::format("no bucket {} at {}", refusal.bucket, refusal.server),
                  "check the name, AWS_ENDPOINT_URL and the account")};
  }
  const bool key = refusal.answer.code.empty() || refusal.answer.code == "NoSuchKey";
  return {Error(Code::not_found, key ? "no such object" : said(refusal))};
}

/// 400 and 409 are many things.
Judgement bad_request(const Refusal& refusal) {
  constexpr std::array kTransient = {
      "RequestTimeout",           "IncompleteBody", "BadDigest",
      "OperationAborted",         "SlowDown",       "ConditionalRequestConflict",
      "XAmzContentSHA256Mismatch"};
  const std::string& code = refusal.answer.code;
  if (std::ranges::find(kTransient, code) != kTransient.end())
    return {Error(Code::unavailable, said(refusal)), Again::yes};
  if (code == "ExpiredToken" || code == "InvalidToken" || code == "TokenRefreshRequired" ||
      code == "RequestTimeTooSkewed" || code.starts_with("KMS")) {
    return denied(refusal);
  }
  if (code == "AuthorizationHeaderMalformed") {
    return {Error(Code::invalid,
                  fmt::format("{} (signed for region {})", said(refusal), refusal.region),
                  "set AWS_REGION to the bucket's region")};
  }
  return {Error(Code::invalid, said(refusal))};
}

}  // namespace

Judgement judge(const Refusal& refusal) {
  switch (refusal.status) {
    case 301:
    case 307:
    case 308:
      return {Error(Code::invalid,
                    fmt::format("the bucket {} is not at {} in region {}: {}", refusal.bucket,
                                refusal.server, refusal.region, said(refusal)),
                    "set AWS_REGION to the bucket's region")};
    case 400:
    case 409:
      return bad_request(refusal);
    case 401:
    case 403:
      return denied(refusal);
    case 404:
      return not_found(refusal);
    case 408:
    case 429:
      return {Error(Code::unavailable, said(refusal)), Again::yes};
    case 412:
      return {Error(Code::changed,
                    "the object was replaced: the server holds another version than "
                    "the pinned one",
                    "start the job again to take a new snapshot, or keep training data immutable")};
    case 416:
      return {Error(Code::invalid, "the range leaves the object")};
    case 501:
    case 505:
      return {Error(Code::invalid, "the server cannot do this: " + said(refusal))};
    default:
      break;
  }
  if (refusal.status >= 500) return {Error(Code::unavailable, said(refusal)), Again::yes};
  return {Error(Code::invalid, "an unexpected answer: " + said(refusal),
                "check that the endpoint is an S3 server")};
}

}  // namespace headrace::s3
