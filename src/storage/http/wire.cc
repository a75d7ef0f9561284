// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/wire.h"

#include <fmt/format.h>

#include <array>

namespace headrace::http {
namespace {

/// So much at once, so that who looks at the bytes finds them in the processor's cache.
constexpr std::uint64_t kPiece = std::uint64_t{256} << 10U;

/// The default port is left out of the header Host.
std::string_view host_header(std::string_view server) {
  const bool tls = server.starts_with("https://");
  server.remove_prefix(tls ? 8 : 7);
  const std::string_view port = tls ? ":443" : ":80";
  if (server.ends_with(port)) server.remove_suffix(port.size());
  return server;
}

std::span<char> as_chars(std::span<std::byte> bytes) {
  void* const at = bytes.data();
  return {static_cast<char*>(at), bytes.size()};
}

}  // namespace

std::string_view server_of(std::string_view url) {
  const auto begin = url.find("://");
  return url.substr(0, url.find_first_of("/?", begin == std::string_view::npos ? 0 : begin + 3));
}

Wire::Wire(std::unique_ptr<Channel> channel, std::string server)
    : channel_(std::move(channel)), server_(std::move(server)) {}

Wire::Progress Wire::start(const Request& request, Exchange& exchange, Time now,
                           std::span<char> scratch) {
  used_before_ = std::exchange(used_, true);
  exchange_ = &exchange;
  answer_.emplace(static_cast<AnswerReader::Sink&>(*this), request.method == Method::head);
  sent_ = 0;
  moved_at_ = now;
  std::string_view target = request.url;
  target.remove_prefix(server_.size());
  request_.clear();
  request_ += to_string(request.method);
  request_ += ' ';
  if (!target.starts_with('/')) request_ += '/';
  request_ += target;
  request_ += " HTTP/1.1\r\nHost: ";
  request_ += host_header(server_);
  request_ += "\r\nUser-Agent: headrace\r\n";
  for (const std::string& header : request.headers) {
    request_ += header;
    request_ += "\r\n";
  }
  request_ += "\r\n";
  return go_on(now, scratch);
}

Wire::Progress Wire::go_on(Time now, std::span<char> scratch) {
  while (sent_ < request_.size()) {
    const auto moved = channel_->write(std::string_view(request_).substr(sent_));
    if (const auto stop = stopped(moved.io)) return *stop;
    sent_ += moved.bytes;
    moved_at_ = now;
    if (sent_ == request_.size()) return Progress::wait_read;  // it cannot have an answer yet
  }
  for (;;) {
    std::span<std::byte> into = std::as_writable_bytes(scratch);
    if (const auto left = answer_->body_left(); left != 0) {
      const auto room = exchange_->destination(answer_->status());
      if (!room.empty())
        into = room.first(std::min<std::size_t>(room.size(), std::min(left, kPiece)));
    }
    const auto moved = channel_->read(into);
    if (moved.io == Channel::Io::ended) return *took(answer_->ended());
    if (const auto stop = stopped(moved.io)) return *stop;
    moved_at_ = now;
    if (const auto end = took(answer_->take(as_chars(into.first(moved.bytes))))) return *end;
    if (moved.bytes < into.size() && !channel_->has_more()) return Progress::wait_read;
  }
}

std::optional<Wire::Progress> Wire::stopped(Channel::Io io) {
  switch (io) {
    case Channel::Io::moved:
      return std::nullopt;
    case Channel::Io::wait_read:
      return Progress::wait_read;
    case Channel::Io::wait_write:
      return Progress::wait_write;
    case Channel::Io::ended:
      return fail(Outcome::Kind::broken, "the connection was closed");
    case Channel::Io::failed:
      return fail(channel_->is_open() ? Outcome::Kind::broken : Outcome::Kind::no_connection,
                  channel_->why());
    case Channel::Io::refused:
      break;
  }
  return fail(Outcome::Kind::refused, channel_->why());
}

std::optional<Wire::Progress> Wire::took(AnswerReader::State state) {
  switch (state) {
    case AnswerReader::State::reading:
      return std::nullopt;
    case AnswerReader::State::done:
      return Progress::over;
    case AnswerReader::State::unwanted:
      return fail(Outcome::Kind::broken, "the answer was not wanted any more");
    case AnswerReader::State::bad:
      break;
  }
  return fail(Outcome::Kind::broken, answer_->begun() ? "the answer is cut off, or no HTTP"
                                                      : "the connection ended without an answer");
}

Wire::Progress Wire::fail(Outcome::Kind kind, std::string why) {
  failed_ = true;
  kind_ = kind;
  why_ = std::move(why);
  return Progress::over;
}

Outcome Wire::outcome() const {
  if (!failed_) return {Outcome::Kind::answered, answer_->status(), std::nullopt};
  const bool refused = kind_ == Outcome::Kind::refused;
  return {kind_, answer_->status(),
          Error(refused ? Code::denied : Code::unavailable, fmt::format("{}: {}", server_, why_),
                std::string(refused ? kTrustRemedy : ""))};
}

bool Wire::is_quiet() {
  std::array<std::byte, 1> byte{};  // of TLS there may be news that are no bytes of an answer
  return channel_->read(byte).io == Channel::Io::wait_read;
}

void Wire::on_header(int status, std::string_view name, std::string_view value) {
  exchange_->header(status, name, value);
}

bool Wire::on_body(int status, ByteSpan bytes) { return exchange_->body(status, bytes); }

}  // namespace headrace::http
