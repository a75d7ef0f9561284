// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/frame.h"

#include <fmt/format.h>

#include <cstring>

#include "headrace/records/tfrecord/crc32c.h"

namespace headrace::tfrecord {
namespace {

constexpr std::uint64_t kLengthBytes = 8;

template <class T>
T load(ByteSpan bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, &bytes[offset], sizeof value);
  return value;
}

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

std::optional<std::uint64_t> length_in(ByteSpan header) {
  const auto crc = load<std::uint32_t>(header, kLengthBytes);
  if (masked_crc32c(header.first(kLengthBytes)) != crc) return std::nullopt;
  return load<std::uint64_t>(header, 0);
}

Result<Bytes> unframe(const Bytes& frame) {
  const ByteSpan bytes = frame.span();
  if (bytes.size() < kHeaderBytes + kFooterBytes) {
    return Error(Code::corrupt, fmt::format("{} bytes, of which a record's frame alone has {}",
                                            bytes.size(), kHeaderBytes + kFooterBytes));
  }
  const auto length = length_in(bytes);
  if (!length) return Error(Code::corrupt, "the CRC of the record's length is wrong");
  if (*length != bytes.size() - kHeaderBytes - kFooterBytes) {
    return Error(Code::corrupt,
                 fmt::format("a record of {} bytes in a frame of {}", *length, bytes.size()));
  }
  const ByteSpan data = bytes.subspan(kHeaderBytes, *length);
  const auto stored = load<std::uint32_t>(bytes, kHeaderBytes + *length);
  const auto found = masked_crc32c(data);
  if (stored != found) {
    return Error(Code::corrupt, fmt::format("the CRC of the record's {} bytes is wrong: {:08x}, "
                                            "and {:08x} is stored",
                                            *length, found, stored));
  }
  return frame.slice(kHeaderBytes, *length);
}

Result<void> append_frame(ByteSpan data, std::vector<std::byte>& out) {
  if (data.size() > kMaxLength) {
    return Error(Code::invalid,
                 fmt::format("a record of {} bytes; we write at most {}", data.size(), kMaxLength));
  }
  const std::uint64_t length = data.size();
  append(out, length);
  append(out, masked_crc32c(std::as_bytes(std::span(&length, 1))));
  out.insert(out.end(), data.begin(), data.end());
  append(out, masked_crc32c(data));
  return {};
}

}  // namespace headrace::tfrecord
