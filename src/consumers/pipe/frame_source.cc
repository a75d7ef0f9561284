// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/frame_source.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <string>

#include "headrace/records/recordio/frame.h"

namespace headrace::pipe {
namespace {

struct Header {
  std::uint32_t magic;
  std::uint32_t word;
};
static_assert(sizeof(Header) == recordio::kHeaderBytes);

Header header_of(ByteSpan bytes) {
  Header header{};
  std::memcpy(&header, bytes.data(), sizeof header);
  return header;
}

Error no_recordio(const FifoReader& fifo, ByteSpan bytes) {
  std::string shown;
  for (const std::byte byte : bytes) shown += fmt::format(" {:02x}", std::to_integer<int>(byte));
  return Error(Code::invalid,
               "the channel should hold RecordIO records, but these bytes came:" + shown,
               "set the channel's record wrapper to RecordIO, or write it with "
               "headrace pipe --order global")
      .at(fifo.path());
}

Error cut_off(const FifoReader& fifo) {
  return Error(Code::unavailable, "the stream ended inside a record: its writer failed",
               "look at the writer's message")
      .at(fifo.path());
}

}  // namespace

Result<bool> read_frame(FifoReader& fifo, std::vector<std::byte>& frame) {
  for (bool first = true;; first = false) {
    const std::size_t begin = frame.size();
    frame.resize(begin + sizeof(Header));
    const auto head = std::span(frame).subspan(begin);
    HEADRACE_TRY(const std::size_t got, fifo.read(head));
    if (got == 0 && first) {
      frame.resize(begin);
      return false;
    }
    if (got >= sizeof(std::uint32_t) && header_of(head).magic != recordio::kMagic) {
      return no_recordio(fifo, head.first(got));
    }
    if (got < sizeof(Header)) return cut_off(fifo);
    const recordio::PartHeader part(header_of(head).word);
    if (!(first ? part.begins() : part.goes_on())) return no_recordio(fifo, head);
    frame.resize(begin + sizeof(Header) + recordio::padded(part.length));
    const auto body = std::span(frame).subspan(begin + sizeof(Header));
    HEADRACE_TRY(const std::size_t came, fifo.read(body));
    if (came < body.size()) return cut_off(fifo);
    if (part.ends()) return true;
  }
}

std::size_t first_frame_bytes(ByteSpan frames) {
  std::size_t at = 0;
  for (;;) {
    const recordio::PartHeader part(header_of(frames.subspan(at)).word);
    at += sizeof(Header) + recordio::padded(part.length);
    if (part.ends()) return at;
  }
}

}  // namespace headrace::pipe
