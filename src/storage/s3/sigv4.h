// SPDX-License-Identifier: Apache-2.0
/// \file AWS Signature Version 4 for S3: from a request to its Authorization header.
///
/// Pure functions; a SigningKey is immutable, and good for one day, region and service.
/// Source: AWS, "Authenticating Requests (AWS Signature Version 4)"; checked against botocore's
/// signatures (tests/data/vectors/sigv4, keys).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/base/bytes.h"

namespace headrace::s3 {

/// SHA-256 of nothing, in hexadecimal: the payload hash of GET, HEAD and DELETE.
inline constexpr std::string_view kEmptyHash =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
inline constexpr std::string_view kUnsignedPayload = "UNSIGNED-PAYLOAD";

/// "20130524T000000Z". `seconds` since 1970.
std::string amz_date(std::int64_t seconds);

/// Names in lower case, sorted, each once.
using Headers = std::vector<std::pair<std::string, std::string>>;

struct SignedRequest {
  std::string_view method;
  std::string_view path;   ///< percent-encoded, with the bucket if it is in the path
  std::string_view query;  ///< canonical_query
  const Headers& headers;  ///< all are signed; `host` and `x-amz-date` are among them
  std::string_view payload_hash;
};

std::string canonical_request(const SignedRequest& request);

class SigningKey {
 public:
  /// `day` is the first 8 digits of an amz_date.
  SigningKey(std::string_view secret, std::string_view day, std::string_view region,
             std::string_view service = "s3");

  const std::string& day() const { return day_; }
  const std::string& region() const { return region_; }
  /// day/region/service/aws4_request
  const std::string& scope() const { return scope_; }
  std::string hex() const;

  std::string string_to_sign(std::string_view date, std::string_view canonical) const;
  /// 64 hexadecimal digits.
  std::string sign(std::string_view string_to_sign) const;

  /// The value of the header Authorization.
  std::string authorize(std::string_view access_key, std::string_view date,
                        const SignedRequest& request) const;

 private:
  std::string day_;
  std::string region_;
  std::string scope_;
  std::array<std::byte, 32> key_{};
};

}  // namespace headrace::s3
