// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/obtain.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>

#include "headrace/base/sha256.h"
#include "headrace/base/small_file.h"
#include "headrace/storage/http/fetch.h"
#include "headrace/storage/s3/command_output.h"
#include "headrace/storage/s3/sigv4.h"
#include "headrace/storage/s3/url.h"
#include "headrace/storage/s3/xml.h"

namespace headrace::s3 {
namespace {

using namespace std::chrono_literals;

// Metadata is asked on the same machine: it answers at once or never.
constexpr Nanos kNearConnect = 1s;
constexpr std::chrono::seconds kNearStall{2};
constexpr std::chrono::seconds kProcessTime{60};

/// A short text in a file, without the line end.
Result<std::string> read_token(const std::string& path) {
  auto read = read_small_file(path);
  std::string text = read ? *std::move(read) : std::string();
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  if (!text.empty()) return text;
  return Error(Code::invalid, fmt::format("the token file {} cannot be read, or is empty", path),
               "check that it is mounted, and who may read it");
}

http::FetchOptions near_options() {
  http::FetchOptions options{.loop = {.max_active = 1}, .attempts = 2};
  options.loop.connect_timeout = kNearConnect;
  options.loop.stall_timeout = kNearStall;
  return options;
}

http::FetchOptions sts_options(const Way& way, const Settings& settings) {
  http::FetchOptions options{.loop = {.max_active = 1}};
  options.loop.ca_bundle = settings.ca_bundle;
  options.loop.proxy = settings.proxies.of(way.sts);
  options.loop.no_proxy = settings.proxies.none;
  options.loop.stall_timeout = 10s;
  return options;
}

/// "http://h:1/x" → "h:1"
std::string host_of(std::string_view url) {
  url.remove_prefix(std::min(url.size(), url.find("://") + 3));
  return std::string(url.substr(0, url.find('/')));
}

/// The answer of STS: an element of this name somewhere below the root.
std::string sts_text(const pugi::xml_document& document, const char* name) {
  const auto found = document.find_node(
      [name](const pugi::xml_node& node) { return std::string_view(node.name()) == name; });
  return found.text().get();
}

Result<Credentials> ask_sts(const Way& way, const Settings& settings, const Query& fields,
                            const Credentials* base, Clock& clock, const std::stop_token& stop) {
  const std::string body = canonical_query(fields);
  http::Request request{.method = http::Method::post, .url = way.sts + "/"};
  request.body = Bytes::copy_of(body);
  Headers headers = {{"content-type", "application/x-www-form-urlencoded"}};
  if (base != nullptr) {
    const std::string date = amz_date(clock.wall_seconds());
    headers.emplace_back("host", host_of(way.sts));
    headers.emplace_back("x-amz-date", date);
    if (!base->session_token.empty())
      headers.emplace_back("x-amz-security-token", base->session_token);
    const SigningKey key(base->secret_key, date.substr(0, 8), way.region, "sts");
    headers.emplace_back("authorization",
                         key.authorize(base->access_key, date,
                                       {.method = "POST",
                                        .path = "/",
                                        .query = "",
                                        .headers = headers,
                                        .payload_hash = sha256_hex(request.body.span())}));
    std::erase_if(headers, [](const auto& header) { return header.first == "host"; });
  }
  for (const auto& [name, value] : headers) request.headers.push_back(name + ": " + value);
  HEADRACE_TRY(const auto response, http::fetch(request, sts_options(way, settings), stop));
  pugi::xml_document document;
  const bool xml = static_cast<bool>(
      document.load_buffer(response.body.data(), response.body.size(), pugi::parse_default));
  if (response.status != 200) {
    const std::string code = xml ? sts_text(document, "Code") : "";
    const std::string message = xml ? sts_text(document, "Message") : "";
    return Error(response.status >= 500 ? Code::unavailable : Code::denied,
                 fmt::format("STS at {} refused: HTTP {} {}{}{}", way.sts, response.status, code,
                             message.empty() ? "" : ": ", message),
                 base == nullptr
                     ? "check AWS_ROLE_ARN, the role's trust in the token's issuer, and the token"
                     : fmt::format("allow sts:AssumeRole to {} (from {}), and the role's trust",
                                   base->access_key, base->source));
  }
  Credentials credentials{.access_key = sts_text(document, "AccessKeyId"),
                          .secret_key = sts_text(document, "SecretAccessKey"),
                          .session_token = sts_text(document, "SessionToken"),
                          .expires = parse_iso_date(sts_text(document, "Expiration"))};
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return Error(Code::invalid, fmt::format("STS at {} answered without keys", way.sts),
                 "check AWS_ENDPOINT_URL_STS");
  return credentials;
}

struct Obtain {
  const Way& way;
  const Settings& settings;
  Clock& clock;
  const std::stop_token& stop;

  Result<Credentials> operator()(const Credentials& known) const { return known; }

  Result<Credentials> operator()(const AssumeRole& role) const {
    HEADRACE_TRY(const auto base, obtain(*role.base, settings, clock, stop));
    Query fields = {{"Action", "AssumeRole"},
                    {"Version", "2011-06-15"},
                    {"RoleArn", role.role_arn},
                    {"RoleSessionName", role.session_name}};
    if (!role.external_id.empty()) fields.emplace_back("ExternalId", role.external_id);
    if (!role.seconds.empty()) fields.emplace_back("DurationSeconds", role.seconds);
    return ask_sts(way, settings, fields, &base, clock, stop);
  }

  Result<Credentials> operator()(const WebIdentity& web) const {
    if (web.role_arn.empty()) {
      return Error(Code::invalid, "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not",
                   "set AWS_ROLE_ARN to the role that the token is for");
    }
    HEADRACE_TRY(const std::string token, read_token(web.token_file));
    return ask_sts(way, settings,
                   {{"Action", "AssumeRoleWithWebIdentity"},
                    {"Version", "2011-06-15"},
                    {"RoleArn", web.role_arn},
                    {"RoleSessionName", web.session_name},
                    {"WebIdentityToken", token}},
                   nullptr, clock, stop);
  }

  Result<Credentials> operator()(const Container& container) const {
    std::string token = container.token;
    if (!container.token_file.empty()) {
      HEADRACE_TRY(token, read_token(container.token_file));
    }
    if (token.find_first_of("\r\n") != std::string::npos)
      return Error(Code::invalid, "the container's authorization token has a line end in it");
    http::Request request{.url = container.url, .headers = {"accept: application/json"}};
    if (!token.empty()) request.headers.push_back("authorization: " + token);
    HEADRACE_TRY(const auto response, http::fetch(request, near_options(), stop));
    if (response.status != 200) {
      return Error(response.status >= 500 ? Code::unavailable : Code::denied,
                   fmt::format("{} answered HTTP {}", container.url, response.status),
                   "check the task's role, AWS_CONTAINER_CREDENTIALS_* and "
                   "AWS_CONTAINER_AUTHORIZATION_TOKEN*");
    }
    return parse_credentials(response.body, "Token");
  }

  Result<Credentials> operator()(const InstanceMetadata& instance) const {
    const http::FetchOptions options = near_options();
    http::Request ask_token{.method = http::Method::put,
                            .url = instance.url + "/latest/api/token",
                            .headers = {"x-aws-ec2-metadata-token-ttl-seconds: 21600"}};
    auto token = http::fetch(ask_token, options, stop);
    if (!token) {
      return std::move(token).error().advise(
          "in a container the token does not come back over a hop: raise the limit by aws ec2 "
          "modify-instance-metadata-options --http-put-response-hop-limit 2; without an instance's "
          "role set AWS_EC2_METADATA_DISABLED=true");
    }
    if (token->status != 200) {
      return Error(
          Code::denied,
          fmt::format("{} answered HTTP {} when asked for a token", instance.url, token->status),
          "allow IMDSv2 on the instance, or set AWS_EC2_METADATA_DISABLED=true");
    }
    const auto get = [&](const std::string& path) {
      return http::fetch(
          {.url = instance.url + "/latest/meta-data/iam/security-credentials/" + path,
           .headers = {"x-aws-ec2-metadata-token: " + token->body}},
          options, stop);
    };
    HEADRACE_TRY(const auto role, get(""));
    const std::string name = role.body.substr(0, role.body.find('\n'));
    if (role.status != 200 || name.empty()) {
      return Error(Code::not_found, "the instance has no role",
                   "attach a role to the instance, or set AWS_EC2_METADATA_DISABLED=true");
    }
    HEADRACE_TRY(const auto keys, get(encode_path(name)));
    if (keys.status != 200) {
      return Error(Code::unavailable,
                   fmt::format("{} answered HTTP {} when asked for the keys of role {}",
                               instance.url, keys.status, name));
    }
    return parse_credentials(keys.body, "Token");
  }

  Result<Credentials> operator()(const Process& process) const {
    HEADRACE_TRY(const std::string out, command_output(process.command, kProcessTime, stop));
    return parse_credentials(out, "SessionToken");
  }
};

}  // namespace

Result<Credentials> parse_credentials(std::string_view json, const char* token_field) {
  const auto bad = [](const char* why) {
    // Not what it holds: it may hold a secret.
    return Error(Code::invalid, fmt::format("the answer is no credentials: {}", why));
  };
  const auto root = nlohmann::json::parse(json, nullptr, false);
  if (!root.is_object()) return bad("no JSON object");
  const auto text = [&root](const char* name) -> std::string {
    const auto found = root.find(name);
    return found != root.end() && found->is_string() ? found->get<std::string>() : "";
  };
  if (const std::string code = text("Code"); !code.empty() && code != "Success")
    return Error(Code::unavailable, fmt::format("the keys are not ready: {}", code));
  if (root.contains("Version") && root["Version"] != 1) return bad("its Version is not 1");
  Credentials credentials{.access_key = text("AccessKeyId"),
                          .secret_key = text("SecretAccessKey"),
                          .session_token = text(token_field),
                          .expires = parse_iso_date(text("Expiration"))};
  if (credentials.access_key.empty() || credentials.secret_key.empty())
    return bad("AccessKeyId or SecretAccessKey is missing");
  return credentials;
}

Result<Credentials> obtain(const Way& way, const Settings& settings, Clock& clock,
                           const std::stop_token& stop) {
  auto credentials = std::visit(Obtain{way, settings, clock, stop}, way.how);
  if (!credentials) return std::move(credentials).error().at("credentials from " + way.source);
  if (credentials->source.empty()) credentials->source = way.source;
  return credentials;
}

bool no_instance(const Way& way, const Error& error) {
  if (!std::holds_alternative<InstanceMetadata>(way.how)) return false;
  return error.code() == Code::unavailable || error.code() == Code::not_found;
}

}  // namespace headrace::s3
