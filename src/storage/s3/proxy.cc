// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/proxy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace headrace::s3 {
namespace {

/// [scheme://][user[:password]@]host[:port][/]
bool is_proxy(std::string_view value) {
  constexpr std::array<std::string_view, 6> kSchemes = {"http",    "https",  "socks4",
                                                        "socks4a", "socks5", "socks5h"};
  if (const auto scheme = value.find("://"); scheme != std::string_view::npos) {
    if (std::ranges::find(kSchemes, value.substr(0, scheme)) == kSchemes.end()) return false;
    value.remove_prefix(scheme + 3);
  }
  if (const auto at = value.rfind('@'); at != std::string_view::npos) value.remove_prefix(at + 1);
  if (value.ends_with('/')) value.remove_suffix(1);
  std::string_view port;
  const auto bracket = value.starts_with('[') ? value.find(']') : 0;
  if (bracket == std::string_view::npos) return false;
  if (const auto colon = value.find(':', bracket); colon != std::string_view::npos) {
    port = value.substr(colon + 1);
    value = value.substr(0, colon);
    if (port.empty()) return false;
  }
  const bool digits = std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; });
  return !value.empty() && digits && port.size() <= 5 &&
         value.find_first_of(" \t\"'/?#\\<>") == std::string_view::npos;
}

Result<std::string> first(const Environment& environment,
                          std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string value = variable(environment, name);
    if (value.empty()) continue;
    if (!is_proxy(value)) {
      return Error(Code::invalid, fmt::format("{} is no address of a proxy", name),
                   fmt::format("set it as in {}=http://proxy.example:3128, or unset it", name));
    }
    return value;
  }
  return std::string();
}

}  // namespace

Result<Proxies> load_proxies(const Environment& environment) {
  Proxies proxies;
  HEADRACE_TRY(proxies.http,
               first(environment, {"http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"}));
  HEADRACE_TRY(proxies.https,
               first(environment, {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"}));
  proxies.none = variable(environment, "no_proxy");
  if (proxies.none.empty()) proxies.none = variable(environment, "NO_PROXY");
  return proxies;
}

}  // namespace headrace::s3
