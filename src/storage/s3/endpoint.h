// SPDX-License-Identifier: Apache-2.0
/// \file Where a bucket is asked: scheme, host, and whether the bucket stands in host or path.
///
/// Pure functions of the settings.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/result.h"
#include "headrace/storage/s3/settings.h"

namespace headrace::s3 {

struct Endpoint {
  std::string base;    ///< "https://b.s3.eu-west-1.amazonaws.com", "http://127.0.0.1:9000"
  std::string host;    ///< as the header Host and the signature have it
  std::string prefix;  ///< of the path: "" or "/bucket"
  std::string region;  ///< for the signature
  bool aws = false;    ///< the real one: its lists are in the order of bytes

  /// The percent-encoded path of a key, with its '/'.
  std::string path(std::string_view key) const;
  /// Of requests for the bucket itself.
  std::string bucket_path() const { return prefix.empty() ? "/" : prefix; }
};

/// How the user wants the server addressed.
struct EndpointOptions {
  std::string_view custom;  ///< AWS_ENDPOINT_URL, or empty
  std::string_view region;
  Addressing addressing = Addressing::automatic;
  bool dualstack = false;
  bool fips = false;
};

/// Under `automatic` a bucket stands in the host at AWS, unless its name has dots (TLS certificates
/// would not match); in the path everywhere else.
/// `invalid`: an endpoint without http:// or https://, a bucket name that cannot be one.
Result<Endpoint> make_endpoint(const EndpointOptions& options, std::string_view bucket);

}  // namespace headrace::s3
