// SPDX-License-Identifier: Apache-2.0
/// \file One connection that carries GETs and HEADs, one after another, and puts bodies where they
/// are wanted.
///
/// Not thread-safe: a loop's thread only. libcurl makes the connection and carries everything else;
/// this is the part that is worth doing without it: of a 110 KB object it spared half of the
/// processor time that libcurl took, and of a large one the copy out of libcurl's buffer.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "headrace/storage/http/answer.h"
#include "headrace/storage/http/channel.h"
#include "headrace/storage/http/exchange.h"

namespace headrace::http {

/// "http://host:1/b/k?x" → "http://host:1"
std::string_view server_of(std::string_view url);

class Wire final : private AnswerReader::Sink {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Progress { wait_read, wait_write, over };

  Wire(std::unique_ptr<Channel> channel, std::string server);

  int fd() const { return channel_->fd(); }
  const std::string& server() const { return server_; }

  /// Sends the request and reads what has come of the answer. Both stay until it is `over`.
  /// `scratch` is for what has no place yet.
  Progress start(const Request& request, Exchange& exchange, Time now, std::span<char> scratch);
  /// The socket rang.
  Progress go_on(Time now, std::span<char> scratch);

  /// When bytes moved last.
  Time moved_at() const { return moved_at_; }
  bool is_open() const { return channel_->is_open(); }
  /// How it ended.
  Outcome outcome() const;
  /// The other side had given up the kept connection: nothing came, so it can be asked again.
  bool was_stale() const { return failed_ && used_before_ && !answer_->begun(); }
  /// It can be used again.
  bool can_be_kept() const { return !failed_ && answer_ && answer_->keeps_connection(); }
  /// It rang while nothing was asked. False: it is of no use any more.
  bool is_quiet();

 private:
  void on_header(int status, std::string_view name, std::string_view value) override;
  bool on_body(int status, ByteSpan bytes) override;
  Progress fail(Outcome::Kind kind, std::string why);
  std::optional<Progress> stopped(Channel::Io io);
  std::optional<Progress> took(AnswerReader::State state);

  const std::unique_ptr<Channel> channel_;
  const std::string server_;
  Exchange* exchange_ = nullptr;
  std::string request_;
  std::size_t sent_ = 0;
  std::optional<AnswerReader> answer_;
  Time moved_at_;
  bool used_before_ = false;
  bool used_ = false;
  bool failed_ = false;
  Outcome::Kind kind_ = Outcome::Kind::answered;
  std::string why_;
};

}  // namespace headrace::http
