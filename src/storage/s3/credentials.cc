// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/credentials.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "headrace/base/small_file.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trim(std::string_view text) {
  const auto begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// What follows a '#' or ';' after a blank is a comment.
std::string_view without_comment(std::string_view value) {
  for (std::size_t i = 1; i < value.size(); ++i) {
    const bool mark = value[i] == '#' || value[i] == ';';
    if (mark && kBlank.find(value[i - 1]) != std::string_view::npos)
      return trim(value.substr(0, i));
  }
  return value;
}

std::string section_name(std::string_view line) {
  std::string_view name = trim(line.substr(1, line.find(']') - 1));
  if (name.starts_with("profile ") || name.starts_with("profile\t")) name = trim(name.substr(8));
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

struct File {
  std::string path;
  bool named = false;  // by a variable: the user means it
  std::map<std::string, Profile> profiles;
};

std::string value_or(const std::optional<std::string>& value, std::string other) {
  return value && !value->empty() ? *value : std::move(other);
}

Result<File> load_file(const Environment& environment, const char* variable,
                       std::string_view below_home) {
  File file;
  if (const auto path = environment(variable); path && !path->empty()) {
    file.path = *path;
    file.named = true;
    if (file.path.starts_with("~/"))
      file.path = value_or(environment("HOME"), "") + file.path.substr(1);
  } else {
    const auto home = environment("HOME");
    if (!home || home->empty()) return file;
    file.path = *home + "/" + std::string(below_home);
  }
  const auto text = read_small_file(file.path);
  if (!text) return file;  // most machines have none
  file.profiles = parse_profiles(*text);
  return file;
}

const std::string* find(const File& file, const std::string& profile, const std::string& name) {
  const auto section = file.profiles.find(profile);
  if (section == file.profiles.end()) return nullptr;
  const auto value = section->second.find(name);
  return value == section->second.end() || value->second.empty() ? nullptr : &value->second;
}

/// Ways to get keys that are known and not supported, in words.
const char* other_way(const Profile& profile) {
  const auto has = [&](const char* name) { return profile.contains(name); };
  if (has("sso_session") || has("sso_start_url") || has("sso_account_id"))
    return "IAM Identity Center (SSO)";
  if (has("role_arn") || has("source_profile") || has("credential_source"))
    return "an assumed role (role_arn)";
  if (has("web_identity_token_file")) return "a web identity token";
  if (has("credential_process")) return "credential_process";
  if (has("login_session")) return "a console login (login_session)";
  return nullptr;
}

Result<Credentials> from_files(const File& credentials, const File& config,
                               const std::string& profile, bool profile_named) {
  for (const File* file : {&credentials, &config}) {
    const std::string* access = find(*file, profile, "aws_access_key_id");
    const std::string* secret = find(*file, profile, "aws_secret_access_key");
    if (access != nullptr && secret != nullptr) {
      const std::string* token = find(*file, profile, "aws_session_token");
      return Credentials{*access, *secret, token == nullptr ? "" : *token,
                         fmt::format("profile {} of {}", profile, file->path)};
    }
    if ((access == nullptr) != (secret == nullptr)) {
      return Error(Code::invalid,
                   fmt::format("profile {} of {} has only one of aws_access_key_id and "
                               "aws_secret_access_key",
                               profile, file->path));
    }
  }
  for (const File* file : {&credentials, &config}) {
    const auto section = file->profiles.find(profile);
    if (section == file->profiles.end()) continue;
    if (const char* way = other_way(section->second); way != nullptr) {
      return Error(
          Code::invalid,
          fmt::format("profile {} of {} gets its keys by {}, which is not supported", profile,
                      file->path, way),
          fmt::format("hand over keys: eval \"$(aws configure export-credentials --profile {} "
                      "--format env)\"",
                      profile));
    }
  }
  if (profile_named && !credentials.profiles.contains(profile) &&
      !config.profiles.contains(profile)) {
    return Error(Code::invalid,
                 fmt::format("AWS_PROFILE is {}, and neither {} nor {} has such a profile", profile,
                             credentials.path, config.path),
                 "correct AWS_PROFILE, or unset it");
  }
  return Credentials{};
}

Result<Credentials> load_credentials(const Environment& environment, const File& credentials,
                                     const File& config, const std::string& profile,
                                     bool profile_named) {
  const std::string access = value_or(environment("AWS_ACCESS_KEY_ID"), "");
  const std::string secret = value_or(environment("AWS_SECRET_ACCESS_KEY"), "");
  if (access.empty() != secret.empty()) {
    return Error(Code::invalid,
                 fmt::format("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set ({})",
                             access.empty() ? "the second" : "the first"),
                 "set both, or neither");
  }
  if (!access.empty()) {
    return Credentials{access, secret, value_or(environment("AWS_SESSION_TOKEN"), ""),
                       "the environment"};
  }
  return from_files(credentials, config, profile, profile_named);
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::map<std::string, Profile> parse_profiles(std::string_view text) {
  std::map<std::string, Profile> profiles;
  Profile* profile = nullptr;
  std::string parent;  // of subkeys: a key that has no value of its own
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view content = trim(line);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (line.front() == '[' && line.find(']') != std::string_view::npos) {
      profile = &profiles[section_name(line)];
      parent.clear();
      continue;
    }
    const auto equals = content.find('=');
    if (profile == nullptr || equals == std::string_view::npos) continue;
    const std::string name(trim(content.substr(0, equals)));
    const std::string_view value = without_comment(trim(content.substr(equals + 1)));
    const bool indented = kBlank.find(line.front()) != std::string_view::npos;
    if (indented && !parent.empty()) {
      (*profile)[parent + "." + name] = value;
    } else {
      parent = value.empty() ? name : "";
      (*profile)[name] = value;
    }
  }
  return profiles;
}

Result<Settings> load_settings(const Environment& environment) {
  HEADRACE_TRY(const File credentials,
               load_file(environment, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"));
  HEADRACE_TRY(const File config, load_file(environment, "AWS_CONFIG_FILE", ".aws/config"));
  const std::string named = value_or(environment("AWS_PROFILE"), "");
  const std::string profile = named.empty() ? "default" : named;
  Settings settings;
  HEADRACE_TRY(settings.credentials,
               load_credentials(environment, credentials, config, profile, !named.empty()));
  const auto first = [&](std::initializer_list<const char*> variables,
                         std::initializer_list<const char*> keys) -> std::string {
    for (const char* variable : variables) {
      if (auto value = environment(variable); value && !value->empty()) return *value;
    }
    for (const char* key : keys) {
      for (const File* file : {&config, &credentials}) {
        if (const std::string* value = find(*file, profile, key); value != nullptr) return *value;
      }
    }
    return {};
  };
  settings.region = first({"AWS_REGION", "AWS_DEFAULT_REGION"}, {"region"});
  settings.endpoint =
      first({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}, {"s3.endpoint_url", "endpoint_url"});
  settings.ca_bundle = first({"AWS_CA_BUNDLE"}, {"ca_bundle"});
  return settings;
}

}  // namespace headrace::s3
