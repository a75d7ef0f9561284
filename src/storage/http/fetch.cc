// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/fetch.h"

#include <future>
#include <memory>

namespace headrace::http {
namespace {

constexpr std::size_t kMost = std::size_t{1} << 20U;

class Fetch final : public Exchange {
 public:
  Fetch(Request request, const FetchOptions& options, std::promise<Result<Response>>& promise)
      : request_(std::move(request)), options_(options), promise_(promise) {}

  Request begin() override {
    ++attempt_;
    response_ = {};
    return request_;
  }
  void header(int /*status*/, std::string_view /*name*/, std::string_view /*value*/) override {}
  bool body(int /*status*/, ByteSpan bytes) override {
    if (response_.body.size() + bytes.size() > kMost) return false;
    response_.body += as_text(bytes);
    return true;
  }
  std::optional<Nanos> end(const Outcome& outcome) override {
    const bool answered = outcome.kind == Outcome::Kind::answered;
    const bool passes = answered ? outcome.status == 429 || outcome.status >= 500
                                 : outcome.kind != Outcome::Kind::refused;
    if (passes && attempt_ < options_.attempts) return options_.pause * (1LL << (attempt_ - 1));
    response_.status = outcome.status;
    if (answered) {
      promise_.set_value(std::move(response_));
    } else {
      promise_.set_value(outcome.error.value_or(Error(Code::unavailable, "no answer")));
    }
    return std::nullopt;
  }
  void cancelled() override { promise_.set_value(Error(Code::cancelled, "stopped")); }

 private:
  const Request request_;
  const FetchOptions& options_;
  std::promise<Result<Response>>& promise_;
  Response response_;
  int attempt_ = 0;
};

}  // namespace

Result<Response> fetch(const Request& request, const FetchOptions& options,
                       const std::stop_token& stop) {
  std::promise<Result<Response>> promise;
  auto answer = promise.get_future();
  Loop loop(options.loop);
  loop.start(std::make_unique<Fetch>(request, options, promise), stop);
  return answer.get();
}

}  // namespace headrace::http
