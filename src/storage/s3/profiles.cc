// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/profiles.h"

#include <algorithm>
#include <cstdlib>

#include "headrace/base/small_file.h"
#include "headrace/base/text.h"

namespace headrace::s3 {
namespace {

constexpr std::string_view kBlank = " \t\r";

/// What follows a '#' or ';' after a blank is a comment.
std::string_view without_comment(std::string_view value) {
  for (std::size_t i = 1; i < value.size(); ++i) {
    const bool mark = value[i] == '#' || value[i] == ';';
    if (mark && kBlank.find(value[i - 1]) != std::string_view::npos)
      return trim(value.substr(0, i), kBlank);
  }
  return value;
}

std::string section_name(std::string_view line) {
  std::string_view name = trim(line.substr(1, line.find(']') - 1), kBlank);
  if (name.starts_with("profile ") || name.starts_with("profile\t"))
    name = trim(name.substr(8), kBlank);
  if (name.size() >= 2 && (name.front() == '"' || name.front() == '\'') &&
      name.back() == name.front()) {
    name = name.substr(1, name.size() - 2);
  }
  return std::string(name);
}

ProfileFile load_file(const Environment& environment, const char* name,
                      std::string_view below_home) {
  ProfileFile file;
  const std::string home = variable(environment, "HOME");
  file.path = variable(environment, name);
  if (file.path.starts_with("~/")) file.path = home + file.path.substr(1);
  if (file.path.empty()) {
    if (home.empty()) return file;
    file.path = home + "/" + std::string(below_home);
  }
  const auto text = read_small_file(file.path);
  if (!text) return file;  // most machines have none
  file.profiles = parse_profiles(*text);
  return file;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

std::string variable(const Environment& environment, const char* name) {
  return environment(name).value_or("");
}

std::map<std::string, Profile> parse_profiles(std::string_view text) {
  std::map<std::string, Profile> profiles;
  Profile* profile = nullptr;
  std::string parent;  // of subkeys: a key that has no value of its own
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::string_view content = trim(line, kBlank);
    if (content.empty() || content.front() == '#' || content.front() == ';') continue;
    if (line.front() == '[' && line.find(']') != std::string_view::npos) {
      profile = &profiles[section_name(line)];
      parent.clear();
      continue;
    }
    const auto equals = content.find('=');
    if (profile == nullptr || equals == std::string_view::npos) continue;
    const std::string name(trim(content.substr(0, equals), kBlank));
    const std::string_view value = without_comment(trim(content.substr(equals + 1), kBlank));
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

const std::string* ProfileFile::find(const std::string& profile, const std::string& name) const {
  const auto section = profiles.find(profile);
  if (section == profiles.end()) return nullptr;
  const auto value = section->second.find(name);
  return value == section->second.end() || value->second.empty() ? nullptr : &value->second;
}

bool ProfileFiles::has(const std::string& profile) const {
  return credentials.profiles.contains(profile) || config.profiles.contains(profile);
}

std::string ProfileFiles::get(const std::string& profile, const std::string& name) const {
  for (const ProfileFile* file : {&config, &credentials}) {
    if (const std::string* value = file->find(profile, name); value != nullptr) return *value;
  }
  return {};
}

ProfileFiles load_profile_files(const Environment& environment) {
  return {.credentials = load_file(environment, "AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
          .config = load_file(environment, "AWS_CONFIG_FILE", ".aws/config")};
}

}  // namespace headrace::s3
