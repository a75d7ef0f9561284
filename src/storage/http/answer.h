// SPDX-License-Identifier: Apache-2.0
/// \file An HTTP/1.1 answer to a GET or HEAD, read as it comes: where its head ends, where its body
/// ends.
///
/// Not thread-safe. Pure: bytes in, calls out. Lines may end in CRLF or LF; what else is not as
/// RFC 9112 says makes the answer bad, since it may not be what the server meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "headrace/base/bytes.h"

namespace headrace::http {

class AnswerReader {
 public:
  class Sink {
   public:
    Sink() = default;
    Sink(const Sink&) = delete;
    Sink& operator=(const Sink&) = delete;
    virtual ~Sink() = default;
    /// `name` is in lower case. Also of an interim answer (1xx), which the next one replaces.
    virtual void on_header(int status, std::string_view name, std::string_view value) = 0;
    /// False: no more is wanted, and the answer is over.
    virtual bool on_body(int status, ByteSpan bytes) = 0;
  };
  enum class State { reading, done, bad, unwanted };

  /// `head_only`: the answer to a HEAD, which tells of a body that does not come.
  AnswerReader(Sink& sink, bool head_only) : sink_(sink), head_only_(head_only) {}

  /// Takes what came; in the head, letters of names are put in lower case where they stand.
  State take(std::span<char> bytes);
  /// No more will come.
  State ended();

  int status() const { return status_; }
  /// Something of it has come.
  bool begun() const { return begun_; }
  /// So many bytes to come are the body's and nothing else.
  std::uint64_t body_left() const {
    return (part_ == Part::body || part_ == Part::chunk) && length_ ? *length_ : 0;
  }
  /// When it is done: the connection may be used again.
  bool keeps_connection() const { return keeps_ && part_ == Part::over; }

 private:
  enum class Part { head, body, chunk_size, chunk, chunk_end, trailer, over };
  State take_head(std::span<char>& bytes);
  bool line_of_head(std::span<char> line);
  bool field(std::span<char> line);
  std::optional<std::string_view> line(std::span<char>& bytes);
  bool size_of_chunk(std::string_view line);
  void head_is_whole();

  Sink& sink_;
  const bool head_only_;
  Part part_ = Part::head;
  std::string kept_;  // of a head or line that has not come wholly
  std::size_t head_size_ = 0;
  int status_ = 0;
  bool begun_ = false;
  bool first_line_ = true;
  bool keeps_ = true;
  bool chunked_ = false;
  std::optional<std::uint64_t> length_;  // what is left, of the body or of a chunk
};

}  // namespace headrace::http
