// SPDX-License-Identifier: Apache-2.0
#include "headrace/decode/png_picture.h"

#include <fmt/format.h>
#include <spng.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <memory>
#include <string_view>

namespace headrace {

namespace {

constexpr std::size_t kSignature = 8;
constexpr std::size_t kAround = 12;  // length, type and checksum of a chunk

std::uint32_t big_endian(const std::byte* at) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) value = value << 8U | std::to_integer<std::uint32_t>(at[i]);
  return value;
}

struct Chunk {
  std::size_t begin = 0;  // of its length field
  std::size_t size = 0;   // with length, type and checksum
  std::string_view type;
  bool checksum_ok = false;

  bool critical() const { return std::isupper(static_cast<unsigned char>(type[0])) != 0; }
};

/// REQUIRES: at < bytes.size()
Result<Chunk> chunk_at(ByteSpan bytes, std::size_t at) {
  if (bytes.size() - at < kAround) {
    return Error(Code::corrupt, fmt::format("PNG: cut short at byte {}", bytes.size()));
  }
  const std::uint64_t length = big_endian(bytes.data() + at);
  if (length > bytes.size() - at - kAround) {
    return Error(Code::corrupt,
                 fmt::format("PNG: chunk of {} bytes at byte {}, but the file ends at {}", length,
                             at, bytes.size()));
  }
  Chunk chunk{at, length + kAround, as_text(bytes.subspan(at + 4, 4))};
  const auto body = bytes.subspan(at + 4, length + 4);
  const auto* data = static_cast<const Bytef*>(static_cast<const void*>(body.data()));
  const auto sum = crc32_z(0, data, body.size());
  chunk.checksum_ok = sum == big_endian(bytes.data() + at + 8 + length);
  return chunk;
}

Error bad_checksum(const Chunk& chunk) {
  return {Code::corrupt,
          fmt::format("PNG: checksum of chunk {} at byte {} is wrong", chunk.type, chunk.begin)};
}

/// Walks all chunks: what libspng must not be asked about, since it reports it late or not at all.
Result<void> check_chunks(ByteSpan bytes, std::vector<std::string>& warnings) {
  bool in_data = false;
  bool data_ended = false;
  for (std::size_t at = kSignature; at < bytes.size();) {
    HEADRACE_TRY(const auto chunk, chunk_at(bytes, at));
    const bool data = chunk.type == "IDAT";
    if (data && data_ended) {
      return Error(Code::corrupt,
                   fmt::format("PNG: IDAT at byte {} does not follow the others", at));
    }
    data_ended = data_ended || (in_data && !data);
    in_data = data;
    if (chunk.type == "IEND") {
      if (!chunk.checksum_ok) warnings.emplace_back("PNG: checksum of chunk IEND is wrong");
      return {};
    }
    if (!chunk.checksum_ok) {
      if (chunk.critical()) return bad_checksum(chunk);
      warnings.push_back(fmt::format("PNG: checksum of chunk {} is wrong", chunk.type));
    }
    at += chunk.size;
  }
  warnings.emplace_back("PNG: no IEND chunk");
  return {};
}

/// What libspng reads: the critical chunks only, so that nothing else can hurt or be inflated.
class CriticalChunks {
 public:
  explicit CriticalChunks(ByteSpan bytes) : bytes_(bytes), left_(kSignature) {}

  static int read(spng_ctx* /*context*/, void* user, void* destination, std::size_t length) {
    auto& self = *static_cast<CriticalChunks*>(user);
    auto* out = static_cast<std::byte*>(destination);
    while (length > 0) {
      if (self.left_ == 0 && !self.next_chunk()) return SPNG_IO_EOF;
      const auto part = std::min(length, self.left_);
      std::memcpy(out, self.bytes_.data() + self.at_, part);
      self.at_ += part;
      self.left_ -= part;
      out += part;
      length -= part;
    }
    return 0;
  }

 private:
  bool next_chunk() {
    while (bytes_.size() - at_ >= kAround) {
      const std::uint64_t length = big_endian(bytes_.data() + at_);
      const auto size = std::min<std::uint64_t>(length + kAround, bytes_.size() - at_);
      if (std::isupper(std::to_integer<int>(bytes_[at_ + 4])) != 0) {
        left_ = size;
        return true;
      }
      at_ += size;
    }
    left_ = bytes_.size() - at_;
    return left_ > 0;
  }

  ByteSpan bytes_;
  std::size_t at_ = 0;
  std::size_t left_;  // of the chunk being read
};

using Context = std::unique_ptr<spng_ctx, decltype(&spng_ctx_free)>;

Error spng_error(int code) {
  return {code == SPNG_EMEM ? Code::exhausted : Code::corrupt,
          fmt::format("PNG: {}", spng_strerror(code))};
}

Result<PictureInfo> read_header(spng_ctx* context, const DecodeLimits& limits) {
  spng_ihdr header{};
  if (const int error = spng_get_ihdr(context, &header); error != 0) return spng_error(error);
  if (std::uint64_t{header.width} * header.height > limits.pixels) {
    return Error(Code::exhausted, fmt::format("PNG: {} x {} pixels, the limit is {} pixels",
                                              header.width, header.height, limits.pixels));
  }
  return PictureInfo{PictureFormat::png, header.width, header.height};
}

}  // namespace

bool has_sixteen_bits(ByteSpan encoded) {
  constexpr std::string_view kBegin = "\x89PNG\r\n\x1a\n";
  constexpr std::size_t kDepth = 24;  // behind the signature and the header's length, type and size
  return encoded.size() > kDepth && as_text(encoded).starts_with(kBegin) &&
         std::to_integer<int>(encoded[kDepth]) == 16;
}

Result<PictureInfo> inspect_png(ByteSpan encoded, const DecodeLimits& limits) {
  const Context context(spng_ctx_new(0), &spng_ctx_free);
  if (!context) return Error(Code::exhausted, "PNG: no memory");
  if (const int error = spng_set_png_buffer(context.get(), encoded.data(), encoded.size());
      error != 0) {
    return spng_error(error);
  }
  return read_header(context.get(), limits);
}

Result<PictureInfo> decode_png(ByteSpan encoded, const DecodeLimits& limits,
                               std::vector<std::uint8_t>& rgb, std::vector<std::string>& warnings) {
  HEADRACE_TRY(inspect_png(encoded, limits));
  HEADRACE_TRY(check_chunks(encoded, warnings));
  const Context context(spng_ctx_new(0), &spng_ctx_free);
  if (!context) return Error(Code::exhausted, "PNG: no memory");
  CriticalChunks chunks(encoded);
  if (const int error = spng_set_png_stream(context.get(), &CriticalChunks::read, &chunks);
      error != 0) {
    return spng_error(error);
  }
  HEADRACE_TRY(const auto picture, read_header(context.get(), limits));
  rgb.resize(std::size_t{picture.width} * picture.height * 3);
  if (const int error = spng_decode_image(context.get(), rgb.data(), rgb.size(), SPNG_FMT_RGB8, 0);
      error != 0) {
    return spng_error(error);
  }
  return picture;
}

}  // namespace headrace
