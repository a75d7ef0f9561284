// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/picture_end.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace headrace {
namespace {

constexpr unsigned kFill = 0xff;
constexpr unsigned kEnd = 0xd9;
constexpr unsigned kScan = 0xda;

unsigned at(ByteSpan bytes, std::size_t i) { return std::to_integer<unsigned>(bytes[i]); }

/// TEM, RSTn, SOI: markers that nothing belongs to. A second SOI is tolerated as libjpeg does not,
/// but that is for the decoder to say.
bool stands_alone(unsigned code) { return code == 0x01 || (code >= 0xd0 && code <= 0xd8); }

/// The code of the next marker at or after `pos`, which is moved behind it; 0 at the end. Stuffed
/// zeros are no markers, and what lies between segments is passed over, as decoders do.
unsigned next_marker(ByteSpan bytes, std::size_t& pos) {
  while (pos + 1 < bytes.size()) {
    const auto rest = bytes.subspan(pos);
    const void* const found = std::memchr(rest.data(), static_cast<int>(kFill), rest.size() - 1);
    if (found == nullptr) break;
    pos += static_cast<std::size_t>(static_cast<const std::byte*>(found) - rest.data()) + 1;
    while (pos < bytes.size() && at(bytes, pos) == kFill) ++pos;
    if (pos == bytes.size()) break;
    const unsigned code = at(bytes, pos++);
    if (code != 0) return code;
  }
  pos = bytes.size();
  return 0;
}

}  // namespace

std::string_view jpeg_end_problem(ByteSpan bytes) {
  std::size_t pos = 2;  // behind SOI
  bool scan_seen = false;
  for (;;) {
    const unsigned code = next_marker(bytes, pos);
    if (code == 0) return "a JPEG without its end mark";
    if (code == kEnd) return scan_seen ? "" : "a JPEG that ends before its picture begins";
    if (stands_alone(code)) continue;
    if (pos + 2 > bytes.size()) return "a JPEG that is cut in a segment";
    const std::size_t length = at(bytes, pos) << 8U | at(bytes, pos + 1);
    if (length > bytes.size() - pos) return "a JPEG that is cut in a segment";
    pos += std::max<std::size_t>(length, 2);  // decoders take less for an empty segment
    scan_seen = scan_seen || code == kScan;
  }
}

std::string_view png_end_problem(ByteSpan bytes) {
  constexpr std::size_t kSignature = 8;
  constexpr std::size_t kAround = 12;  // length, type, checksum
  std::size_t pos = kSignature;
  while (pos + kAround <= bytes.size()) {
    std::size_t length = 0;
    for (std::size_t i = 0; i < 4; ++i) length = length << 8U | at(bytes, pos + i);
    if (length > bytes.size() - pos - kAround) return "a PNG that is cut in a chunk";
    if (as_text(bytes.subspan(pos + 4, 4)) == "IEND") return {};
    pos += kAround + length;
  }
  return "a PNG without its last chunk";
}

std::string_view webp_end_problem(ByteSpan bytes) {
  std::uint32_t length = 0;
  if (bytes.size() < 8) return "a WebP that is shorter than it says";
  std::memcpy(&length, &bytes[4], sizeof length);
  if (std::uint64_t{length} + 8 > bytes.size()) return "a WebP that is shorter than it says";
  return {};
}

}  // namespace headrace
