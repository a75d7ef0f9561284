// SPDX-License-Identifier: Apache-2.0
// An answer is the same however it is cut into pieces, and no bytes lead beyond those that came.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "headrace/storage/http/answer.h"

namespace {

using headrace::http::AnswerReader;

struct Seen final : AnswerReader::Sink {
  std::string all;
  std::size_t body = 0;
  void on_header(int status, std::string_view name, std::string_view value) override {
    all += std::to_string(status);
    all.append(name).append(":").append(value).append("\n");
  }
  bool on_body(int /*status*/, headrace::ByteSpan bytes) override {
    body += bytes.size();
    all += headrace::as_text(bytes);
    return true;
  }
};

AnswerReader::State read(Seen& seen, std::string text, std::size_t piece) {
  AnswerReader reader(seen, false);
  auto state = AnswerReader::State::reading;
  for (std::size_t at = 0; at < text.size() && state == AnswerReader::State::reading; at += piece) {
    const std::size_t size = std::min(piece, text.size() - at);
    state = reader.take({&text[at], size});
  }
  if (state == AnswerReader::State::reading) state = reader.ended();
  return state;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const void* const at = data;
  const std::string text(static_cast<const char*>(at), size);
  Seen whole;
  Seen pieces;
  const auto state = read(whole, text, text.size() + 1);
  const bool same = read(pieces, text, 3) == state && whole.all == pieces.all;
  if (!same || whole.body > size) std::abort();
  return 0;
}
