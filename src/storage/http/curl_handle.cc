// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/curl_handle.h"

#include <fmt/format.h>

#include <mutex>

#include "headrace/storage/http/channel.h"
#include "headrace/storage/http/wire.h"

namespace headrace::http {
namespace {

/// A 110 KB picture arrives in one or two calls, and 64 handles hold 16 MiB.
constexpr long kReceiveBuffer = 256L * 1024;

template <class Value>
void set(CURL* easy, CURLoption option, Value value) {
  // Fails only for options that this build of curl does not know; the version is required.
  (void)curl_easy_setopt(easy, option, value);
}

/// "https://host" → "http://host:443"
std::string without_tls(const std::string& server) {
  if (!server.starts_with("https://")) return server;
  std::string plain = "http://" + server.substr(8);
  const auto behind = plain.find(']');  // of an IPv6 address
  const auto from = behind == std::string::npos ? std::string_view("http://").size() : behind;
  if (plain.find(':', from) == std::string::npos) plain += ":443";
  return plain;
}

}  // namespace

std::string_view to_string(Method method) {
  switch (method) {
    case Method::get:
      return "GET";
    case Method::head:
      return "HEAD";
    case Method::put:
      return "PUT";
    case Method::post:
      return "POST";
    case Method::remove:
      return "DELETE";
  }
  return "?";
}

void init_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

EasyHandle::EasyHandle(const LoopOptions& options, const Callbacks& callbacks)
    : options_(options), callbacks_(callbacks), easy_(curl_easy_init()) {}

void EasyHandle::configure() {
  CURL* easy = easy_.get();
  curl_easy_reset(easy);
  set(easy, CURLOPT_NOSIGNAL, 1L);
  set(easy, CURLOPT_PATH_AS_IS, 1L);  // keys may hold "a/../b"
  set(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  set(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(easy, CURLOPT_USERAGENT, "headrace");
  set(easy, CURLOPT_BUFFERSIZE, kReceiveBuffer);
  set(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  set(easy, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1L);
  set(easy, CURLOPT_OPENSOCKETFUNCTION, callbacks_.open);
  set(easy, CURLOPT_OPENSOCKETDATA, callbacks_.sockets);
  set(easy, CURLOPT_CLOSESOCKETFUNCTION, callbacks_.close);
  set(easy, CURLOPT_CLOSESOCKETDATA, callbacks_.sockets);
  set(easy, CURLOPT_CONNECTTIMEOUT_MS,
      static_cast<long>(
          std::chrono::duration_cast<std::chrono::milliseconds>(options_.connect_timeout).count()));
  set(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(easy, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options_.stall_timeout.count()));
  if (!options_.ca_bundle.empty()) set(easy, CURLOPT_CAINFO, options_.ca_bundle.c_str());
  // Also where there is none: an empty text keeps curl from asking the environment.
  set(easy, CURLOPT_PROXY, options_.proxy.c_str());
  set(easy, CURLOPT_NOPROXY, options_.no_proxy.c_str());
  set(easy, CURLOPT_ERRORBUFFER, error_.data());
  set(easy, CURLOPT_HEADERFUNCTION, callbacks_.header);
  set(easy, CURLOPT_WRITEFUNCTION, callbacks_.body);
  clean_ = true;
}

void EasyHandle::prepare(const Request& request, void* owner) {
  if (!clean_) configure();
  CURL* easy = easy_.get();
  error_[0] = '\0';
  server_ = server_of(request.url);
  set(easy, CURLOPT_URL, request.url.c_str());
  curl_slist* list = nullptr;
  // No "Accept", no form type, no waiting for "100 Continue".
  for (const char* off : {"Accept:", "Content-Type:", "Expect:"}) {
    if (request.method == Method::get && *off != 'A') break;
    list = curl_slist_append(list, off);
  }
  for (const auto& header : request.headers) list = curl_slist_append(list, header.c_str());
  headers_.reset(list);
  set(easy, CURLOPT_HTTPHEADER, list);
  set(easy, CURLOPT_HEADERDATA, owner);
  set(easy, CURLOPT_WRITEDATA, owner);
  set(easy, CURLOPT_PRIVATE, owner);
  if (request.method == Method::get) return;
  clean_ = false;
  switch (request.method) {
    case Method::get:
      break;
    case Method::head:
      set(easy, CURLOPT_NOBODY, 1L);
      break;
    case Method::remove:
      set(easy, CURLOPT_CUSTOMREQUEST, "DELETE");
      break;
    case Method::put:
      set(easy, CURLOPT_CUSTOMREQUEST, "PUT");
      [[fallthrough]];
    case Method::post:
      set(easy, CURLOPT_POST, 1L);
      set(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      // Of an empty body any address will do, but null would mean a read callback.
      set(easy, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.text().data());
      break;
  }
}

void EasyHandle::prepare_connection(const Request& request, void* owner) {
  if (!clean_) configure();
  clean_ = false;
  CURL* easy = easy_.get();
  error_[0] = '\0';
  server_ = server_of(request.url);
  // Shaking hands is the channel's.
  set(easy, CURLOPT_URL, without_tls(server_).c_str());
  set(easy, CURLOPT_CONNECT_ONLY, 1L);
  set(easy, CURLOPT_PRIVATE, owner);
}

int EasyHandle::socket() const {
  curl_socket_t fd = CURL_SOCKET_BAD;
  curl_easy_getinfo(easy_.get(), CURLINFO_ACTIVESOCKET, &fd);
  return static_cast<int>(fd);
}

Outcome EasyHandle::outcome(CURLcode code, int status) const {
  if (code == CURLE_OK) return {Outcome::Kind::answered, status, std::nullopt};
  const std::string why = error_[0] == '\0' ? curl_easy_strerror(code) : error_.data();
  const auto as = [&](Outcome::Kind kind, Code error, std::string_view remedy) {
    return Outcome{kind, status,
                   Error(error, fmt::format("{}: {}", server_, why), std::string(remedy))};
  };
  switch (code) {
    case CURLE_COULDNT_CONNECT:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return as(
          Outcome::Kind::no_connection, Code::unavailable,
          "check that the server runs, and the address: AWS_ENDPOINT_URL, AWS_REGION, proxies");
    case CURLE_OPERATION_TIMEDOUT: {
      double connected = 0;
      curl_easy_getinfo(easy_.get(), CURLINFO_PRETRANSFER_TIME, &connected);
      return as(connected > 0 ? Outcome::Kind::broken : Outcome::Kind::no_connection,
                Code::unavailable, "");
    }
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
      return as(Outcome::Kind::refused, Code::denied, kTrustRemedy);
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
      return as(Outcome::Kind::refused, Code::invalid, "check AWS_ENDPOINT_URL");
    case CURLE_OUT_OF_MEMORY:
      return as(Outcome::Kind::refused, Code::exhausted, "");
    default:
      return as(Outcome::Kind::broken, Code::unavailable, "");
  }
}

}  // namespace headrace::http
