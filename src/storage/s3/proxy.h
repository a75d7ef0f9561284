// SPDX-License-Identifier: Apache-2.0
/// \file Which proxy, if any, stands before an address. Pure functions.
#pragma once

#include <string>
#include <string_view>

#include "headrace/base/result.h"
#include "headrace/storage/s3/profiles.h"

namespace headrace::s3 {

struct Proxies {
  std::string http;   ///< http_proxy, HTTP_PROXY, all_proxy; empty: none
  std::string https;  ///< https_proxy, HTTPS_PROXY, all_proxy
  std::string none;   ///< no_proxy, NO_PROXY: names, domains, addresses, networks, or "*"

  /// For an address such as "https://host:1".
  const std::string& of(std::string_view url) const {
    return url.starts_with("https:") ? https : http;
  }
};

/// `invalid`, with the variable's name, for a value that is no address of a proxy. What may be a
/// password in it is not repeated.
Result<Proxies> load_proxies(const Environment& environment);

}  // namespace headrace::s3
