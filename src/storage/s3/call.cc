// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/s3/call.h"

#include <curl/curl.h>
#include <fmt/format.h>

#include <cstdlib>
#include <future>

#include "headrace/base/parse_number.h"
#include "headrace/base/sha256.h"
#include "headrace/storage/object_time.h"
#include "headrace/storage/s3/errors.h"

namespace headrace::s3 {
namespace {

constexpr std::size_t kErrorBody = std::size_t{64} << 10U;  // more is no S3 error
constexpr std::size_t kTextBody = std::size_t{64} << 20U;   // a list page is 0.5 MB
constexpr std::int64_t kClockTolerance = 300;               // seconds; signatures hold for 900

/// "Wed, 21 Oct 2015 07:28:00 GMT" → seconds since 1970; 0 if it is none.
std::int64_t http_date(std::string_view text) {
  const auto seconds = curl_getdate(std::string(text).c_str(), nullptr);
  return seconds < 0 ? 0 : static_cast<std::int64_t>(seconds);
}

/// "bytes 0-9/100", "bytes */100"
void read_content_range(std::string_view value, Answer& answer) {
  if (!value.starts_with("bytes ")) return;
  value.remove_prefix(6);
  const auto slash = value.find('/');
  if (slash == std::string_view::npos) return;
  answer.range_total = parse_number<std::uint64_t>(value.substr(slash + 1));
  const auto dash = value.find('-');
  answer.range_begin = parse_number<std::uint64_t>(value.substr(0, dash));
  if (dash < slash)
    answer.range_last = parse_number<std::uint64_t>(value.substr(dash + 1, slash - dash - 1));
}

bool good(int status) { return status >= 200 && status < 300; }

Nanos now() {
  return std::chrono::duration_cast<Nanos>(std::chrono::steady_clock::now().time_since_epoch());
}

}  // namespace

Pin Answer::pin(std::uint64_t size) const {
  return {.etag = etag, .version = version, .modified_ns = modified_ns, .size = size};
}

Call::Call(Service& service, Ask ask)
    : service_(service),
      ask_(std::move(ask)),
      query_(canonical_query(ask_.query)),
      payload_hash_(ask_.body.empty() ? std::string(kEmptyHash) : sha256_hex(ask_.body.span())),
      random_(service.next_seed()) {}

http::Request Call::begin() {
  attempt_started_ = now();
  if (attempt_++ == 0) started_ = attempt_started_;
  received_ = 0;
  answered_ = false;
  answer_ = {};
  take_error_.reset();
  restart();
  identity_ = service_.identity();
  Metrics& metrics = *service_.context().metrics;
  metrics.add(Metric::requests, 1);
  if (ask_.is_list) metrics.add(Metric::requests_list, 1);
  if (attempt_ > 1) metrics.add(Metric::retries, 1);

  const Endpoint& endpoint = identity_->endpoint;
  const std::string path = ask_.key ? endpoint.path(*ask_.key) : endpoint.bucket_path();
  Headers headers = ask_.headers;
  service_.sign(*identity_, http::to_string(ask_.method), path, query_, payload_hash_, headers);
  http::Request request{.method = ask_.method, .body = ask_.body};
  request.url.reserve(endpoint.base.size() + path.size() + query_.size() + 1);
  request.url += endpoint.base;
  request.url += path;
  if (!query_.empty()) {
    request.url += '?';
    request.url += query_;
  }
  request.headers.reserve(headers.size());
  for (const auto& [name, value] : headers) {
    std::string& line = request.headers.emplace_back();
    line.reserve(name.size() + value.size() + 2);
    line += name;
    line += ": ";
    line += value;
  }
  return request;
}

void Call::header(int status, std::string_view name, std::string_view value) {
  answer_.status = status;
  if (!std::exchange(answered_, true)) first_byte(now() - attempt_started_);
  if (name == "etag") {
    answer_.etag = value;
  } else if (name == "content-length") {
    answer_.length = parse_number<std::uint64_t>(value);
  } else if (name == "content-range") {
    read_content_range(value, answer_);
  } else if (name == "last-modified") {
    answer_.modified_ns = object_time(http_date(value));
  } else if (name == "retry-after") {
    answer_.retry_after =
        std::chrono::seconds(parse_number<std::uint64_t>(value).value_or(0) % 1'000'000);
  } else if (name == "date") {
    if (!good(status)) answer_.date = http_date(value);
  } else if (name.starts_with("x-amz-")) {
    name.remove_prefix(6);
    if (name == "version-id") {
      if (value != "null") answer_.version = value;
    } else if (name == "bucket-region") {
      answer_.region = value;
    } else if (name == "storage-class") {
      answer_.storage_class = value;
    } else if (name.starts_with("checksum-")) {
      // "…-3" is made of the checksums of three parts, which are not told.
      const auto kind = BodyChecksum::kind_of(name.substr(9));
      if (kind && value.find('-') == std::string_view::npos) {
        answer_.checksum_kind = kind;
        answer_.checksum = value;
      }
    } else if (name == "archive-status") {
      answer_.archive_status = value;
    } else if (name == "restore") {
      answer_.restore = value;
    }
  }
}

std::span<std::byte> Call::destination(int status) {
  answer_.status = status;
  return good(status) ? place(answer_) : std::span<std::byte>{};
}

bool Call::body(int status, ByteSpan bytes) {
  answer_.status = status;
  if (!good(status)) {
    const auto room = kErrorBody - std::min(answer_.body.size(), kErrorBody);
    answer_.body += as_text(bytes).substr(0, room);
    return true;
  }
  received_ += bytes.size();
  if (auto taken = take(answer_, bytes); !taken) {
    take_error_ = std::move(taken).error();
    return false;
  }
  return true;
}

std::optional<Nanos> Call::end(const http::Outcome& outcome) {
  using Kind = http::Outcome::Kind;
  if (outcome.kind == Kind::answered) {
    const bool throttled = outcome.status == 503 || outcome.status == 429;
    service_.measured(received_, now() - attempt_started_, throttled);
  }
  if (take_error_) {
    const Again again = again_after(*take_error_);
    return fail({*std::exchange(take_error_, std::nullopt), again});
  }
  if (outcome.kind != Kind::answered) {
    const Again again = outcome.kind == Kind::refused         ? Again::no
                        : service_.has_answered()             ? Again::until_it_is_back
                        : outcome.kind == Kind::no_connection ? Again::if_connected_soon
                                                              : Again::yes;
    return fail({outcome.error.value_or(Error(Code::unavailable, "no answer")), again});
  }
  answer_.status = outcome.status;
  if (good(outcome.status)) {
    if (auto checked = check(answer_); !checked) {
      const Again again = again_after(checked.error());
      return fail({std::move(checked).error(), again});
    }
    service_.set_answered();
    finish(std::move(answer_));
    return std::nullopt;
  }
  const ErrorAnswer error = parse_error(answer_.body);
  if (const auto delay = repair(error)) return delay;
  if (forgive(answer_, error)) {
    finish(std::move(answer_));
    return std::nullopt;
  }
  return fail(judge_refusal(error));
}

Call::Verdict Call::judge_refusal(const ErrorAnswer& error) {
  const Credentials& as = *identity_->credentials;
  auto [refused, again] = judge({.status = answer_.status,
                                 .answer = error,
                                 .bucket = service_.bucket(),
                                 .server = identity_->endpoint.base,
                                 .region = identity_->endpoint.region,
                                 .access_key = as.access_key,
                                 .source = as.source});
  const auto trouble = service_.credentials_trouble();
  if (trouble && refused.code() == Code::denied) {
    refused = Error(
        refused.code(),
        fmt::format("{}; keys could not be refreshed: {}", refused.cause(), trouble->to_string()),
        refused.remedy());
  }
  if (refused.code() == Code::changed) again = again_after(refused);
  if (again == Again::yes && answer_.status >= 500 && service_.has_answered())
    again = Again::until_it_is_back;
  return {std::move(refused), again};
}

/// A proxy or a replica may have answered from the past: before an object counts as changed it is
/// looked at again.
Again Call::again_after(const Error& error) {
  constexpr int kRechecks = 6;
  if (error.code() == Code::unavailable) return Again::yes;
  if (error.code() == Code::changed) return rechecks_++ < kRechecks ? Again::yes : Again::no;
  return Again::no;
}

/// What can be set right, so that the request is made again: after this time.
std::optional<Nanos> Call::repair(const ErrorAnswer& error) {
  const int status = answer_.status;
  const std::string& region = answer_.region.empty() ? error.region : answer_.region;
  const bool elsewhere = status == 301 || status == 307 || status == 400 || status == 403;
  if (!moved_ && elsewhere && !region.empty() && region != identity_->endpoint.region) {
    moved_ = true;
    (void)service_.move_to_region(region);  // another call may have been faster
    return Nanos(0);
  }
  // The answer to HEAD has no body, so the reason must be guessed.
  const bool mute = ask_.method == http::Method::head && (status == 400 || status == 403);
  if (answer_.date != 0 && !set_right_) {
    const std::int64_t ahead = answer_.date - service_.context().clock->wall_seconds();
    const std::int64_t off = std::abs(ahead - service_.skew());
    if (error.code == "RequestTimeTooSkewed" || (mute && off > kClockTolerance)) {
      set_right_ = true;
      service_.set_skew(ahead);  // another call may have been faster
      return Nanos(0);
    }
  }
  const bool expired = error.code == "ExpiredToken" || error.code == "TokenRefreshRequired" ||
                       error.code == "InvalidToken";
  const bool temporary = !identity_->credentials->session_token.empty();
  if (expired || (mute && temporary && renewals_ == 0)) return renew_credentials();
  return std::nullopt;
}

std::optional<Nanos> Call::renew_credentials() {
  constexpr int kMostRenewals = 50;  // with the pause: 10 s
  constexpr Nanos kPause = std::chrono::milliseconds(200);
  if (renewals_++ >= kMostRenewals) return std::nullopt;
  switch (service_.renew(*identity_)) {
    case Keeper::Renewal::done:
      return Nanos(0);
    case Keeper::Renewal::coming:
      return kPause;
    case Keeper::Renewal::none:
      break;
  }
  return std::nullopt;
}

std::optional<Nanos> Call::fail(Verdict verdict) {
  const auto delay = next_delay(service_.options().retry, verdict.again, attempt_, now() - started_,
                                answer_.retry_after, random_);
  if (delay) return delay;
  Error error = std::move(verdict.error);
  if (verdict.again != Again::no) {
    error =
        Error(error.code(), fmt::format("{}; gave up after {} attempts", error.cause(), attempt_),
              error.remedy());
  }
  finish(std::move(error).at(ask_.place));
  return std::nullopt;
}

void Call::cancelled() { finish(Error(Code::cancelled, "stopped").at(ask_.place)); }

Result<void> TextCall::take(Answer& answer, ByteSpan bytes) {
  if (answer.body.size() + bytes.size() > kTextBody)
    return Error(Code::corrupt, "an answer of more than 64 MiB, where a short text was expected");
  answer.body += as_text(bytes);
  return {};
}

Result<void> TextCall::check(Answer& answer) {
  // CompleteMultipartUpload and CopyObject may fail after they have said 200.
  if (!answer.body.starts_with("<")) return {};
  const ErrorAnswer error =
      answer.body.find("<Error>") == std::string::npos ? ErrorAnswer{} : parse_error(answer.body);
  if (error.code.empty()) return {};
  return Error(Code::unavailable, fmt::format("{}: {}", error.code, error.message));
}

Result<Answer> call_now(Service& service, Ask ask, const std::stop_token& stop) {
  HEADRACE_TRY(service.check_process().at(ask.place));
  if (stop.stop_requested()) return Error(Code::cancelled, "stopped").at(ask.place);
  std::promise<Result<Answer>> promise;
  auto answer = promise.get_future();
  service.start(std::make_unique<TextCall>(
                    service, std::move(ask),
                    [&promise](Result<Answer> result) { promise.set_value(std::move(result)); }),
                stop);
  return answer.get();
}

}  // namespace headrace::s3
