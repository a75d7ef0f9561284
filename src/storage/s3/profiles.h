// SPDX-License-Identifier: Apache-2.0
/// \file The shared files of the AWS tools: profiles with their settings, as text becomes a map.
///
/// Pure functions of what is handed in, so that tests need no real environment.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::s3 {

/// A variable of the environment, or nothing.
using Environment = std::function<std::optional<std::string>(const char* name)>;
Environment process_environment();
/// The value; "" if it is not set.
std::string variable(const Environment& environment, const char* name);

using Profile = std::map<std::string, std::string>;
/// The INI dialect of the AWS files. Sections "[profile x]" and "[x]" are both profile x;
/// indented lines are subkeys, "s3.name". Lines that are none of these are left out.
std::map<std::string, Profile> parse_profiles(std::string_view text);

struct ProfileFile {
  std::string path;
  std::map<std::string, Profile> profiles;  ///< empty if there is no such file

  /// Null if it is not set, or empty.
  const std::string* find(const std::string& profile, const std::string& name) const;
};

/// Both files: AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials), AWS_CONFIG_FILE (~/.aws/config).
struct ProfileFiles {
  ProfileFile credentials;
  ProfileFile config;

  bool has(const std::string& profile) const;
  /// Of the first file that sets it, the config file before the other; "" if none does.
  std::string get(const std::string& profile, const std::string& name) const;
};
ProfileFiles load_profile_files(const Environment& environment);

}  // namespace headrace::s3
