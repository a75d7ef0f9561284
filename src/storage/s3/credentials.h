// SPDX-License-Identifier: Apache-2.0
/// \file Keys and settings as the AWS tools have them: the environment, then the shared files.
///
/// Pure functions of what is handed in, so that tests need no real environment. Order, as the
/// AWS tools: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY; then the profile (AWS_PROFILE, else
/// "default") in the credentials file; then in the config file; then none: requests go unsigned,
/// as public buckets allow.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace::s3 {

/// A variable of the environment, or nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();

struct Credentials {
  std::string access_key;  ///< empty: unsigned
  std::string secret_key;
  std::string session_token;
  std::string source;  ///< for messages: "the environment", "profile x of /home/…"

  bool unsigned_mode() const { return access_key.empty(); }
};

/// What the environment and the shared files say.
struct Settings {
  Credentials credentials;
  std::string region;     ///< empty: not said
  std::string endpoint;   ///< AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, endpoint_url; empty: AWS
  std::string ca_bundle;  ///< AWS_CA_BUNDLE, ca_bundle; empty: the system's
};

/// `invalid` for a profile that does not exist, or that gets its keys in a way that is not
/// supported (SSO, an assumed role, a process), which the error names.
Result<Settings> load_settings(const Environment& environment);

using Profile = std::map<std::string, std::string>;
/// The INI dialect of the AWS files. Sections "[profile x]" and "[x]" are both profile x;
/// indented lines are subkeys, "s3.name". Lines that are none of these are left out.
std::map<std::string, Profile> parse_profiles(std::string_view text);

}  // namespace headrace::s3
