// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/http/answer.h"

#include <algorithm>
#include <charconv>

#include "headrace/base/parse_number.h"
#include "headrace/base/text.h"

namespace headrace::http {
namespace {

constexpr std::size_t kMostHead = std::size_t{64} << 10U;
constexpr std::size_t kMostLine = 4096;  // of a chunk's size, or a trailer

constexpr std::string_view kBlanks = " \t";

/// "Chunked" in "gzip, chunked"; names are compared without regard to case.
bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    const auto one = trim(list.substr(0, comma), kBlanks);
    if (std::ranges::equal(one, word, {}, [](char c) { return lower(c); })) return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

/// Up to the end of the first line, and without it.
std::size_t without_end(std::string_view line) {
  return line.size() - (line.ends_with("\r\n") ? 2 : 1);
}

}  // namespace

AnswerReader::State AnswerReader::take(std::span<char> bytes) {
  while (!bytes.empty() && part_ != Part::over) {
    begun_ = true;
    switch (part_) {
      case Part::head:
        if (const State state = take_head(bytes); state != State::reading) return state;
        break;
      case Part::body:
      case Part::chunk: {
        const auto size = static_cast<std::size_t>(
            length_ ? std::min<std::uint64_t>(*length_, bytes.size()) : bytes.size());
        if (size != 0 && !sink_.on_body(status_, as_byte_span({bytes.data(), size})))
          return State::unwanted;
        bytes = bytes.subspan(size);
        if (!length_) break;
        *length_ -= size;
        if (*length_ == 0) part_ = part_ == Part::chunk ? Part::chunk_end : Part::over;
        break;
      }
      case Part::chunk_size:
      case Part::chunk_end:
      case Part::trailer: {
        const auto whole = line(bytes);
        if (!whole) {
          if (kept_.size() > kMostLine) return State::bad;
          break;
        }
        if (part_ == Part::chunk_size && !size_of_chunk(*whole)) return State::bad;
        if (part_ == Part::chunk_end) {
          if (!whole->empty()) return State::bad;
          part_ = Part::chunk_size;
        } else if (part_ == Part::trailer && whole->empty()) {
          part_ = Part::over;
        }
        kept_.clear();
        break;
      }
      case Part::over:
        break;
    }
  }
  if (part_ != Part::over) return State::reading;
  if (!bytes.empty()) keeps_ = false;  // more than it said: who knows what that is
  return State::done;
}

AnswerReader::State AnswerReader::ended() {
  if (part_ == Part::over) return State::done;
  const bool is_end = part_ == Part::body && !length_;
  keeps_ = false;
  part_ = Part::over;
  return is_end ? State::done : State::bad;
}

/// Lines that are whole are read where they stand; what is left of the last one is kept.
AnswerReader::State AnswerReader::take_head(std::span<char>& bytes) {
  while (!bytes.empty() && part_ == Part::head) {
    const auto end = std::ranges::find(bytes, '\n');
    const bool whole = end != bytes.end();
    std::span<char> line = bytes.first(static_cast<std::size_t>(end - bytes.begin()) + whole);
    bytes = bytes.subspan(line.size());
    head_size_ += line.size();
    if (head_size_ > kMostHead) return State::bad;
    if (!whole || !kept_.empty()) {
      kept_.append(line.data(), line.size());
      if (!whole) return State::reading;
      line = kept_;
    }
    if (!line_of_head(line.first(without_end({line.data(), line.size()})))) return State::bad;
    kept_.clear();
  }
  return State::reading;
}

bool AnswerReader::line_of_head(std::span<char> line) {
  if (!std::exchange(first_line_, false)) {
    if (!line.empty()) return field(line);
    head_is_whole();
    return true;
  }
  // "HTTP/1.1 200 OK"
  const std::string_view text(line.data(), line.size());
  if (!text.starts_with("HTTP/1.") || text.size() < 12 || text[8] != ' ') return false;
  const auto [end, error] = std::from_chars(text.data() + 9, text.data() + 12, status_);
  if (error != std::errc{} || end != text.data() + 12 || status_ < 100) return false;
  keeps_ = text[7] != '0';
  chunked_ = false;
  length_.reset();
  return true;
}

bool AnswerReader::field(std::span<char> line) {
  const std::string_view text(line.data(), line.size());
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0 ||
      kBlanks.find(text.front()) != std::string_view::npos)
    return false;
  for (char& c : line.first(colon)) c = lower(c);
  const auto name = text.substr(0, colon);
  const auto value = trim(text.substr(colon + 1), kBlanks);
  if (name == "content-length") {
    const auto length = parse_number<std::uint64_t>(value);
    if (!length || (length_ && *length_ != *length)) return false;
    length_ = length;
  } else if (name == "transfer-encoding") {
    if (!has_word(value, "chunked")) return false;
    chunked_ = true;
  } else if (name == "connection") {
    if (has_word(value, "close")) keeps_ = false;
    if (has_word(value, "keep-alive")) keeps_ = true;
  }
  sink_.on_header(status_, name, value);
  return true;
}

void AnswerReader::head_is_whole() {
  if (status_ < 200) {  // the real one follows
    first_line_ = true;
  } else if (head_only_ || status_ == 204 || status_ == 304) {
    part_ = Part::over;
  } else if (chunked_) {
    part_ = Part::chunk_size;
  } else {
    part_ = length_ && *length_ == 0 ? Part::over : Part::body;
  }
}

/// The next line, without its end, once it has come wholly; in `kept_`.
std::optional<std::string_view> AnswerReader::line(std::span<char>& bytes) {
  const auto end = std::ranges::find(bytes, '\n');
  const bool whole = end != bytes.end();
  const auto size = static_cast<std::size_t>(end - bytes.begin()) + (whole ? 1 : 0);
  kept_.append(bytes.data(), size);
  bytes = bytes.subspan(size);
  if (!whole || kept_.size() > kMostLine) return std::nullopt;
  return std::string_view(kept_).substr(0, without_end(kept_));
}

/// "1f3;name=value"
bool AnswerReader::size_of_chunk(std::string_view line) {
  const auto digits = trim(line.substr(0, line.find(';')), kBlanks);
  std::uint64_t size = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, size, 16);
  if (digits.empty() || error != std::errc{} || end != last) return false;
  length_ = size;
  part_ = size == 0 ? Part::trailer : Part::chunk;
  return true;
}

}  // namespace headrace::http
