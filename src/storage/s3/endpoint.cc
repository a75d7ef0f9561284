// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/endpoint.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/storage/s3/url.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kDefaultRegion = "us-east-1";  // any region tells where a bucket is

bool is_bucket_name(std::string_view name) {
  // Wider than AWS's rule of today, which old buckets and other servers do not keep.
  return !name.empty() && name.size() <= 255 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
  });
}

Result<Endpoint> custom_endpoint(const EndpointOptions& options, std::string_view bucket) {
  const std::string_view custom = options.custom;
  std::string_view scheme = "http://";
  if (custom.starts_with("https://")) scheme = "https://";
  if (!custom.starts_with(scheme)) {
    return Error(Code::invalid,
                 fmt::format("the endpoint '{}' does not begin with http:// or https://", custom),
                 fmt::format("set AWS_ENDPOINT_URL to http://{} or https://{}", custom, custom));
  }
  std::string_view rest = custom.substr(scheme.size());
  while (rest.ends_with('/')) rest.remove_suffix(1);
  const auto slash = std::min(rest.find('/'), rest.size());
  std::string host(rest.substr(0, slash));
  if (host.empty() || host.find_first_of("@?# ") != std::string::npos ||
      rest.find_first_of("?#") != std::string_view::npos) {
    return Error(Code::invalid, fmt::format("the endpoint '{}' is no address of a server", custom),
                 "set AWS_ENDPOINT_URL as in http://127.0.0.1:9000");
  }
  Endpoint endpoint;
  endpoint.base = std::string(scheme) + host;
  // The default port is left out of the header Host, and so of the signature.
  const std::string_view port = scheme == "http://" ? ":80" : ":443";
  if (host.ends_with(port)) host.resize(host.size() - port.size());
  endpoint.host = std::move(host);
  endpoint.prefix = rest.substr(slash);
  endpoint.region = options.region;
  if (options.addressing == Addressing::virtual_host) {
    endpoint.base.insert(scheme.size(), fmt::format("{}.", bucket));
    endpoint.host = fmt::format("{}.{}", bucket, endpoint.host);
  } else {
    endpoint.prefix += fmt::format("/{}", bucket);
  }
  endpoint.aws =
      endpoint.host.ends_with(".amazonaws.com") || endpoint.host.ends_with(".amazonaws.com.cn");
  return endpoint;
}

}  // namespace

std::string Endpoint::path(std::string_view key) const { return prefix + "/" + encode_path(key); }

Result<Endpoint> make_endpoint(const EndpointOptions& given, std::string_view bucket) {
  if (!is_bucket_name(bucket)) {
    return Error(Code::invalid, fmt::format("'{}' cannot be the name of a bucket", bucket),
                 "write s3://bucket/prefix");
  }
  EndpointOptions options = given;
  if (options.region.empty()) options.region = kDefaultRegion;
  if (!options.custom.empty()) return custom_endpoint(options, bucket);
  if (bucket.ends_with("--x-s3")) {
    return Error(
        Code::invalid,
        fmt::format("{} is a directory bucket (S3 Express One Zone), which wants sessions; "
                    "these are not supported",
                    bucket),
        "use a general purpose bucket");
  }
  const std::string_view region = options.region;
  const std::string_view domain = region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  Endpoint endpoint{.region = std::string(region), .aws = true};
  endpoint.host = fmt::format("s3{}{}.{}.{}", options.fips ? "-fips" : "",
                              options.dualstack ? ".dualstack" : "", region, domain);
  const bool in_host =
      options.addressing == Addressing::virtual_host ||
      (options.addressing == Addressing::automatic && bucket.find('.') == std::string_view::npos);
  if (in_host) {
    endpoint.host = fmt::format("{}.{}", bucket, endpoint.host);
  } else {
    endpoint.prefix = fmt::format("/{}", bucket);
  }
  endpoint.base = "https://" + endpoint.host;
  return endpoint;
}

}  // namespace headrace::s3
