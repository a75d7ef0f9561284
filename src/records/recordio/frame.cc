// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "headrace/records/protobuf/record.h"

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

/// Whether one of kWords words is the magic. Without a branch, so that the compiler makes vectors
/// of it.
constexpr std::size_t kWords = 64;
bool has_magic(const std::byte* words) {
  unsigned found = 0;
  for (std::size_t i = 0; i < kWords; ++i) {
    std::uint32_t word = 0;
    std::memcpy(&word, words + i * sizeof word, sizeof word);
    found |= word == kMagic ? 1U : 0U;
  }
  return found != 0;
}

std::vector<ByteSpan> parts_of(ByteSpan record) {
  constexpr std::size_t kBlock = kWords * sizeof kMagic;
  std::vector<ByteSpan> parts;
  std::uint64_t begin = 0;
  const auto look_at = [&](std::uint64_t from, std::uint64_t end) {
    for (std::uint64_t at = from; at + sizeof kMagic <= end; at += sizeof kMagic) {
      if (word_at(record, at) != kMagic) continue;
      parts.push_back(record.subspan(begin, at - begin));
      begin = at + sizeof kMagic;
    }
  };
  std::uint64_t at = 0;
  for (; at + kBlock <= record.size(); at += kBlock)
    if (has_magic(&record[at])) look_at(at, at + kBlock);
  look_at(at, record.size());
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

Error too_long(std::uint64_t bytes) {
  return {Code::invalid,
          fmt::format("a record of {} bytes; RecordIO holds at most {}", bytes, kMaxLength)};
}

Bytes join(const Bytes& frame, std::span<const Part> parts, bool with_magic) {
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

}  // namespace

Result<Bytes> unframe(const Bytes& frame, Parts reading) {
  HEADRACE_TRY(const auto parts, split(frame.span()));
  if (parts.size() == 1) return frame.slice(parts[0].begin, parts[0].length);
  if (reading != Parts::automatic) return join(frame, parts, reading == Parts::dmlc);
  const auto written_by_dmlc = std::all_of(parts.begin(), parts.end() - 1,
                                           [](const Part& part) { return part.length % 4 == 0; });
  if (!written_by_dmlc) return join(frame, parts, false);
  auto with_magic = join(frame, parts, true);
  if (protobuf::is_record(with_magic.span())) return with_magic;
  auto without = join(frame, parts, false);
  return protobuf::is_record(without.span()) ? without : with_magic;
}

Result<void> append_frame(ByteSpan header, ByteSpan payload, std::vector<std::byte>& out) {
  if (header.size() + payload.size() > kMaxLength) return too_long(header.size() + payload.size());
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

Result<void> append_unsplit(ByteSpan record, std::vector<std::byte>& out) {
  if (record.size() > kMaxLength) return too_long(record.size());
  append_part(out, 0, record, {});
  return {};
}

}  // namespace headrace::recordio
