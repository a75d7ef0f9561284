// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/settings.h"

#include <fmt/format.h>

#include <set>

#include "headrace/base/parse_number.h"
#include "headrace/base/text.h"

namespace headrace::s3 {
namespace {

constexpr const char* kContainerHost = "http://169.254.170.2";
constexpr const char* kInstanceHost = "http://169.254.169.254";

Result<bool> truth(std::string_view name, const std::string& value) {
  const std::string small = lower(value);
  if (small.empty() || small == "false" || small == "no" || small == "0" || small == "off")
    return false;
  if (small == "true" || small == "yes" || small == "1" || small == "on") return true;
  return Error(Code::invalid,
               fmt::format("{} is '{}', which is neither true nor false", name, value),
               fmt::format("set {} to true or false", name));
}

/// What is said by variables, then by the profile.
class Sources {
 public:
  explicit Sources(const Environment& environment)
      : environment_(environment), files_(load_profile_files(environment)) {
    profile_ = variable(environment, "AWS_PROFILE");
    named_ = !profile_.empty();
    if (!named_) profile_ = "default";
  }

  const ProfileFiles& files() const { return files_; }
  const std::string& profile() const { return profile_; }
  std::string env(const char* name) const { return variable(environment_, name); }
  std::string first(std::initializer_list<const char*> variables,
                    std::initializer_list<const char*> keys) const {
    for (const char* name : variables) {
      if (auto value = env(name); !value.empty()) return value;
    }
    for (const char* key : keys) {
      if (auto value = files_.get(profile_, key); !value.empty()) return value;
    }
    return {};
  }
  Result<bool> flag(const char* name, const char* key) const {
    return truth(name, first({name}, {key}));
  }
  std::string where(const std::string& profile) const {
    const bool config = files_.config.profiles.contains(profile);
    return fmt::format("profile {} of {}", profile,
                       config ? files_.config.path : files_.credentials.path);
  }
  Result<void> check_profile() const {
    if (!named_ || files_.has(profile_)) return {};
    return Error(Code::invalid,
                 fmt::format("AWS_PROFILE is {}, and neither {} nor {} has such a profile",
                             profile_, files_.credentials.path, files_.config.path),
                 "correct AWS_PROFILE, or unset it");
  }

 private:
  const Environment& environment_;
  const ProfileFiles files_;
  std::string profile_;
  bool named_ = false;
};

/// Finds the way to keys; one for each profile of a chain.
class Search {
 public:
  Search(const Sources& sources, std::string region, bool at_aws)
      : sources_(sources), region_(std::move(region)), at_aws_(at_aws) {}

  /// Nothing: none is meant.
  Result<std::optional<Way>> find() {
    HEADRACE_TRY(auto way, from_environment());
    if (way) return way;
    HEADRACE_TRY(sources_.check_profile());
    HEADRACE_TRY(way, role_of(sources_.profile()));
    if (way) return way;
    if (!sources_.env("AWS_WEB_IDENTITY_TOKEN_FILE").empty()) return web_identity_of_environment();
    HEADRACE_TRY(way, profile_itself(sources_.profile()));
    if (way) return way;
    HEADRACE_TRY(way, container());
    if (way) return way;
    return instance();
  }

 private:
  using Found = Result<std::optional<Way>>;

  Found from_environment() const {
    const std::string access = sources_.env("AWS_ACCESS_KEY_ID");
    const std::string secret = sources_.env("AWS_SECRET_ACCESS_KEY");
    if (access.empty() != secret.empty()) {
      return Error(
          Code::invalid,
          fmt::format("only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set ({})",
                      access.empty() ? "the second" : "the first"),
          "set both, or neither");
    }
    if (access.empty()) return std::optional<Way>();
    return known({access, secret, sources_.env("AWS_SESSION_TOKEN"), "the environment"});
  }

  static std::optional<Way> known(Credentials credentials) {
    std::string source = credentials.source;
    return Way{.how = std::move(credentials), .source = std::move(source), .sts = {}, .region = {}};
  }

  Way by_sts(std::string source) const {
    Way way{.how = Credentials{}, .source = std::move(source), .sts = {}, .region = region_};
    if (way.region.empty()) way.region = "us-east-1";
    way.sts = sources_.first({"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"}, {"endpoint_url"});
    while (way.sts.ends_with('/')) way.sts.pop_back();
    if (way.sts.empty()) {
      way.sts = fmt::format("https://sts.{}.amazonaws.com{}", way.region,
                            way.region.starts_with("cn-") ? ".cn" : "");
    }
    return way;
  }

  std::string session_name(const std::string& given) const {
    const std::string name = given.empty() ? sources_.env("AWS_ROLE_SESSION_NAME") : given;
    return name.empty() ? "headrace" : name;
  }

  /// A profile that becomes another role.
  Found role_of(const std::string& profile) {
    const ProfileFiles& files = sources_.files();
    const std::string role = files.get(profile, "role_arn");
    if (role.empty()) return std::optional<Way>();
    const std::string where = sources_.where(profile);
    if (!seen_.insert(profile).second) {
      return Error(Code::invalid, fmt::format("{}: source_profile leads in a circle", where),
                   "let the last source_profile hold keys");
    }
    if (!files.get(profile, "mfa_serial").empty()) {
      return Error(Code::invalid,
                   fmt::format("{} wants a code of an MFA device (mfa_serial), which is not "
                               "supported",
                               where),
                   hand_over(profile));
    }
    Way way = by_sts(where);
    if (const std::string token = files.get(profile, "web_identity_token_file"); !token.empty()) {
      way.how = WebIdentity{role, session_name(files.get(profile, "role_session_name")), token};
      return std::optional(std::move(way));
    }
    HEADRACE_TRY(auto base, base_of(profile, where));
    way.how = AssumeRole{.base = std::make_shared<const Way>(std::move(base)),
                         .role_arn = role,
                         .session_name = session_name(files.get(profile, "role_session_name")),
                         .external_id = files.get(profile, "external_id"),
                         .seconds = files.get(profile, "duration_seconds")};
    return std::optional(std::move(way));
  }

  Result<Way> base_of(const std::string& profile, const std::string& where) {
    const std::string source = sources_.files().get(profile, "source_profile");
    const std::string kind = sources_.files().get(profile, "credential_source");
    std::optional<Way> base;
    if (!source.empty()) {
      if (!sources_.files().has(source)) {
        return Error(
            Code::invalid,
            fmt::format("{}: there is no profile {}, which source_profile names", where, source),
            "correct source_profile");
      }
      if (source != profile) {
        HEADRACE_TRY(base, role_of(source));
      }
      if (!base) {
        HEADRACE_TRY(base, profile_itself(source));
      }
    } else if (kind == "Environment") {
      HEADRACE_TRY(base, from_environment());
    } else if (kind == "EcsContainer") {
      HEADRACE_TRY(base, container());
    } else if (kind == "Ec2InstanceMetadata") {
      at_aws_ = true;
      HEADRACE_TRY(base, instance());
    } else {
      return Error(Code::invalid,
                   fmt::format("{} has role_arn, and neither source_profile nor a known "
                               "credential_source",
                               where),
                   "set source_profile, or credential_source to Environment, EcsContainer or "
                   "Ec2InstanceMetadata");
    }
    if (base) return *std::move(base);
    return Error(Code::invalid, fmt::format("{}: {} gives no keys to ask for the role with", where,
                                            source.empty() ? kind : "profile " + source));
  }

  std::optional<Way> web_identity_of_environment() const {
    Way way = by_sts("AWS_WEB_IDENTITY_TOKEN_FILE");
    way.how = WebIdentity{sources_.env("AWS_ROLE_ARN"), session_name(""),
                          sources_.env("AWS_WEB_IDENTITY_TOKEN_FILE")};
    return way;
  }

  static std::string hand_over(const std::string& profile) {
    return fmt::format(
        "hand over keys: eval \"$(aws configure export-credentials --profile {} --format env)\"; "
        "or set credential_process to that command with --format process",
        profile);
  }

  /// Keys in a file, or what a profile says instead.
  Found profile_itself(const std::string& profile) const {
    const ProfileFiles& files = sources_.files();
    for (const ProfileFile* file : {&files.credentials, &files.config}) {
      const std::string* access = file->find(profile, "aws_access_key_id");
      const std::string* secret = file->find(profile, "aws_secret_access_key");
      const std::string source = fmt::format("profile {} of {}", profile, file->path);
      if (access != nullptr && secret != nullptr) {
        const std::string* token = file->find(profile, "aws_session_token");
        return known({*access, *secret, token == nullptr ? "" : *token, source});
      }
      if ((access == nullptr) != (secret == nullptr)) {
        return Error(Code::invalid, source +
                                        " has only one of aws_access_key_id and "
                                        "aws_secret_access_key");
      }
    }
    const std::string where = sources_.where(profile);
    if (std::string command = files.get(profile, "credential_process"); !command.empty()) {
      return std::optional(
          Way{.how = Process{std::move(command)}, .source = where, .sts = {}, .region = {}});
    }
    const char* other = nullptr;
    for (const char* name : {"sso_session", "sso_start_url", "sso_account_id"}) {
      if (!files.get(profile, name).empty()) other = "IAM Identity Center (SSO)";
    }
    if (!files.get(profile, "login_session").empty()) other = "a console login (login_session)";
    if (other == nullptr) return std::optional<Way>();
    return Error(Code::invalid,
                 fmt::format("{} gets its keys by {}, which is not supported", where, other),
                 hand_over(profile));
  }

  Found container() const {
    const std::string relative = sources_.env("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
    std::string url = sources_.env("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    if (!relative.empty()) url = kContainerHost + relative;
    if (url.empty()) return std::optional<Way>();
    // A token must not go to anybody: as the AWS tools, https, loopback and AWS's own addresses.
    bool allowed = url.starts_with("https://");
    for (const char* host :
         {"127.", "localhost", "[::1]", "169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"}) {
      const std::string begin = std::string("http://") + host;
      allowed = allowed ||
                (url.starts_with(begin) && (begin.ends_with('.') || url.size() == begin.size() ||
                                            url[begin.size()] == ':' || url[begin.size()] == '/'));
    }
    if (!allowed) {
      return Error(Code::invalid,
                   "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this "
                   "machine or container",
                   "correct it, or unset it");
    }
    return std::optional(
        Way{.how = Container{url, sources_.env("AWS_CONTAINER_AUTHORIZATION_TOKEN"),
                             sources_.env("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE")},
            .source = "the container's credentials endpoint",
            .sts = {},
            .region = {}});
  }

  Found instance() const {
    HEADRACE_TRY(const bool off,
                 truth("AWS_EC2_METADATA_DISABLED", sources_.env("AWS_EC2_METADATA_DISABLED")));
    std::string url =
        sources_.first({"AWS_EC2_METADATA_SERVICE_ENDPOINT"}, {"ec2_metadata_service_endpoint"});
    // An instance's keys are of use at AWS only; elsewhere asking would be a second lost.
    if (off || (url.empty() && !at_aws_)) return std::optional<Way>();
    if (url.empty()) url = kInstanceHost;
    while (url.ends_with('/')) url.pop_back();
    return std::optional(Way{.how = InstanceMetadata{url},
                             .source = "the instance's metadata",
                             .sts = {},
                             .region = {}});
  }

  const Sources& sources_;
  const std::string region_;
  bool at_aws_;
  std::set<std::string> seen_;
};

Result<Addressing> load_addressing(const Sources& sources) {
  if (const std::string value = sources.env("AWS_VIRTUAL_HOSTING"); !value.empty()) {
    HEADRACE_TRY(const bool virtual_host, truth("AWS_VIRTUAL_HOSTING", value));
    return virtual_host ? Addressing::virtual_host : Addressing::path;
  }
  const std::string style = sources.first({}, {"s3.addressing_style"});
  if (style.empty() || style == "auto") return Addressing::automatic;
  if (style == "path") return Addressing::path;
  if (style == "virtual") return Addressing::virtual_host;
  return Error(Code::invalid, fmt::format("s3.addressing_style is '{}'", style),
               "set it to auto, path or virtual");
}

/// How often a request is sent in all; nothing if neither variable nor profile says.
Result<std::optional<int>> load_max_attempts(const Sources& sources) {
  const std::string text = sources.first({"AWS_MAX_ATTEMPTS"}, {"max_attempts"});
  if (text.empty()) return std::optional<int>();
  const auto attempts = parse_number<int>(text);
  constexpr int kMost = 1000;
  if (attempts && *attempts >= 1 && *attempts <= kMost) return attempts;
  return Error(Code::invalid, fmt::format("AWS_MAX_ATTEMPTS is '{}'", text),
               "set it to a number from 1 to 1000, or unset it");
}

}  // namespace

Result<Settings> load_settings(const Environment& environment) {
  const Sources sources(environment);
  Settings settings;
  settings.region = sources.first({"AWS_REGION", "AWS_DEFAULT_REGION"}, {"region"});
  settings.endpoint = sources.first({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"},
                                    {"s3.endpoint_url", "endpoint_url"});
  settings.ca_bundle = sources.first({"AWS_CA_BUNDLE"}, {"ca_bundle"});
  HEADRACE_TRY(settings.addressing, load_addressing(sources));
  HEADRACE_TRY(settings.dualstack,
               sources.flag("AWS_USE_DUALSTACK_ENDPOINT", "use_dualstack_endpoint"));
  HEADRACE_TRY(settings.fips, sources.flag("AWS_USE_FIPS_ENDPOINT", "use_fips_endpoint"));
  HEADRACE_TRY(settings.max_attempts, load_max_attempts(sources));
  HEADRACE_TRY(settings.proxies, load_proxies(environment));
  if (const std::string payer = sources.env("AWS_REQUEST_PAYER"); payer == "requester") {
    settings.request_payer = true;
  } else if (!payer.empty()) {
    return Error(Code::invalid, fmt::format("AWS_REQUEST_PAYER is '{}'", payer),
                 "set it to requester, or unset it");
  }
  HEADRACE_TRY(const bool unsigned_mode, sources.flag("AWS_NO_SIGN_REQUEST", "no_sign_request"));
  if (unsigned_mode) {
    settings.credentials.source = "AWS_NO_SIGN_REQUEST is set";
    return settings;
  }
  const bool at_aws =
      settings.endpoint.empty() || settings.endpoint.find(".amazonaws.com") != std::string::npos;
  HEADRACE_TRY(settings.way, Search(sources, settings.region, at_aws).find());
  if (settings.way && std::holds_alternative<Credentials>(settings.way->how)) {
    settings.credentials = std::get<Credentials>(settings.way->how);
    settings.way.reset();
  }
  return settings;
}

}  // namespace headrace::s3
