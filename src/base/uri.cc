// SPDX-License-Identifier: Apache-2.0
#include "headrace/base/uri.h"

#include <fmt/format.h>

namespace headrace {

std::string Uri::to_string() const {
  switch (scheme) {
    case Scheme::local:
      return path;
    case Scheme::s3:
      return fmt::format("s3://{}/{}", authority, path);
    case Scheme::nfs:
      return fmt::format("nfs://{}/{}", authority, path);
    case Scheme::memory:
      return fmt::format("memory://{}/{}", authority, path);
  }
  return path;
}

Result<Uri> parse_uri(std::string_view text) {
  if (text.empty()) return Error(Code::invalid, "empty URI", "give a path or s3://bucket/prefix");
  const auto colon = text.find("://");
  const auto slash = text.find('/');
  // "dir/s3://x" is a path: the scheme must come before the first slash.
  if (colon == std::string_view::npos || slash < colon) {
    for (const std::string_view scheme : {"s3:/", "nfs:/"}) {
      if (!text.starts_with(scheme)) continue;
      return Error(
                 Code::invalid, "a slash is missing after the scheme",
                 fmt::format("{}/{}, or ./{} for a file", scheme, text.substr(scheme.size()), text))
          .at(text);
    }
    return Uri{Scheme::local, "", std::string(text)};
  }
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 3);
  if (scheme == "file") return Uri{Scheme::local, "", std::string(rest)};
  Uri uri;
  if (scheme == "s3") {
    uri.scheme = Scheme::s3;
  } else if (scheme == "nfs") {
    uri.scheme = Scheme::nfs;
  } else if (scheme == "memory") {
    uri.scheme = Scheme::memory;
  } else {
    return Error(Code::invalid, fmt::format("unknown scheme '{}'", scheme),
                 "known: a path, s3://bucket/prefix, nfs://host/export/path")
        .at(text);
  }
  const auto end = rest.find('/');
  uri.authority = rest.substr(0, end);
  if (end != std::string_view::npos) uri.path = rest.substr(end + 1);
  if (uri.authority.empty()) {
    return Error(Code::invalid, "no bucket or host after ://").at(text);
  }
  return uri;
}

}  // namespace headrace
