// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace headrace::recordio {
namespace {

std::uint32_t word_at(ByteSpan bytes, std::uint64_t offset) {
  std::uint32_t word = 0;
  std::memcpy(&word, &bytes[offset], sizeof word);
  return word;
}

void append_word(std::vector<std::byte>& out, std::uint32_t word) {
  const auto bytes = std::as_bytes(std::span(&word, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

/// A part may come in two pieces.
void append_part(std::vector<std::byte>& out, unsigned flag, ByteSpan front, ByteSpan back) {
  const std::size_t length = front.size() + back.size();
  append_word(out, kMagic);
  append_word(out, flag << 29U | static_cast<std::uint32_t>(length));
  out.insert(out.end(), front.begin(), front.end());
  out.insert(out.end(), back.begin(), back.end());
  out.resize(out.size() + (padded(length) - length));
}

std::vector<ByteSpan> parts_of(ByteSpan record) {
  std::vector<ByteSpan> parts;
  std::uint64_t begin = 0;
  for (std::uint64_t at = 0; at + sizeof kMagic <= record.size(); at += sizeof kMagic) {
    if (word_at(record, at) != kMagic) continue;
    parts.push_back(record.subspan(begin, at - begin));
    begin = at + sizeof kMagic;
  }
  parts.push_back(record.subspan(begin));
  return parts;
}

Error bad(std::uint64_t offset, std::string why) {
  return Error(Code::corrupt, std::move(why)).at(fmt::format("frame + {}", offset));
}

struct Part {
  std::uint64_t begin;
  std::uint64_t length;
};

/// The parts of exactly one record, which fills the frame. Padding may lack at the end.
Result<std::vector<Part>> split(ByteSpan frame) {
  std::vector<Part> parts;
  std::uint64_t at = 0;
  while (true) {
    if (frame.size() < at + kHeaderBytes) {
      return bad(at, fmt::format("{} bytes where a part's header of 8 belongs",
                                 frame.size() - std::min<std::uint64_t>(at, frame.size())));
    }
    if (word_at(frame, at) != kMagic) return bad(at, "no RecordIO magic");
    const PartHeader header(word_at(frame, at + 4));
    if (parts.empty() ? !header.begins() : !header.goes_on())
      return bad(at, fmt::format("flag {} at part {} of a record", header.flag, parts.size()));
    at += kHeaderBytes;
    if (header.length > frame.size() - at) {
      return bad(at, fmt::format("a part of {} bytes, of which {} are there", header.length,
                                 frame.size() - at));
    }
    parts.push_back({.begin = at, .length = header.length});
    at += padded(header.length);
    if (header.ends()) break;
  }
  if (at < frame.size())
    return bad(at, fmt::format("the record ends {} bytes before its frame", frame.size() - at));
  return parts;
}

}  // namespace

Result<Bytes> unframe(const Bytes& frame, Parts reading) {
  HEADRACE_TRY(const auto parts, split(frame.span()));
  if (parts.size() == 1) return frame.slice(parts[0].begin, parts[0].length);
  bool with_magic = reading == Parts::dmlc;
  if (reading == Parts::automatic) {
    with_magic = true;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
      with_magic = with_magic && parts[i].length % 4 == 0;
  }
  std::uint64_t total = 0;
  for (const Part& part : parts) total += part.length;
  if (with_magic) total += (parts.size() - 1) * sizeof kMagic;
  Buffer record(total);
  std::byte* out = record.data();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0 && with_magic) {
      std::memcpy(out, &kMagic, sizeof kMagic);
      out += sizeof kMagic;
    }
    if (parts[i].length != 0) std::memcpy(out, frame.data() + parts[i].begin, parts[i].length);
    out += parts[i].length;
  }
  return std::move(record).freeze(total);
}

Result<void> append_frame(ByteSpan header, ByteSpan payload, std::vector<std::byte>& out) {
  if (header.size() + payload.size() > kMaxLength) {
    return Error(Code::invalid, fmt::format("a record of {} bytes; RecordIO holds at most {}",
                                            header.size() + payload.size(), kMaxLength));
  }
  // Each is split alone, as header is a multiple of 4; the parts that meet are one.
  auto parts = parts_of(header);
  const auto in_payload = parts_of(payload);
  const std::size_t meeting = parts.size() - 1;
  parts.insert(parts.end(), in_payload.begin() + 1, in_payload.end());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool first = i == 0;
    const bool last = i + 1 == parts.size();
    const unsigned flag = first && last ? 0 : first ? 1 : last ? 3 : 2;
    append_part(out, flag, parts[i], i == meeting ? in_payload.front() : ByteSpan());
  }
  return {};
}

}  // namespace headrace::recordio
