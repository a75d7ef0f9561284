// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/unpack/codec.h"

#include <brotli/decode.h>
#include <bzlib.h>
#include <fmt/format.h>
#include <lzma.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace headrace {
namespace {

constexpr std::size_t kPiece = 1U << 20U;

/// What one call of a library did.
struct Progress {
  std::size_t taken = 0;
  std::size_t made = 0;
  bool stream_ended = false;
  bool damaged = false;
};

/// One library behind one call.
class Decoder {
 public:
  Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
  virtual ~Decoder() = default;

  virtual Progress decode(ByteSpan in, std::span<std::byte> out) = 0;
  /// After a stream's end, for the next one. False: the format is one stream, what follows is none.
  virtual bool restart() = 0;
};

// The libraries' structures want pointers to bytes of their own kind, and not const.
template <class Byte>
Byte* as(const std::byte* bytes) {
  return static_cast<Byte*>(const_cast<void*>(static_cast<const void*>(bytes)));  // NOLINT
}

class Gzip final : public Decoder {
 public:
  Gzip() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~Gzip() override { inflateEnd(&stream_); }
  Progress decode(ByteSpan in, std::span<std::byte> out) override {
    stream_.next_in = as<Bytef>(in.data());
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = as<Bytef>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int told = inflate(&stream_, Z_NO_FLUSH);
    return {.taken = in.size() - stream_.avail_in,
            .made = out.size() - stream_.avail_out,
            .stream_ended = told == Z_STREAM_END,
            .damaged = !ready_ || (told != Z_OK && told != Z_STREAM_END && told != Z_BUF_ERROR)};
  }
  bool restart() override { return inflateReset(&stream_) == Z_OK; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

class Zstd final : public Decoder {
 public:
  Zstd() : stream_(ZSTD_createDCtx()) {}
  ~Zstd() override { ZSTD_freeDCtx(stream_); }
  Progress decode(ByteSpan in, std::span<std::byte> out) override {
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer into{out.data(), out.size(), 0};
    const std::size_t told = ZSTD_decompressStream(stream_, &into, &from);
    const bool damaged = ZSTD_isError(told) != 0;
    return {.taken = from.pos,
            .made = into.pos,
            .stream_ended = !damaged && told == 0,
            .damaged = damaged};
  }
  bool restart() override { return true; }

 private:
  ZSTD_DCtx* const stream_;
};

class Bzip2 final : public Decoder {
 public:
  Bzip2() { restart(); }
  ~Bzip2() override { BZ2_bzDecompressEnd(&stream_); }
  Progress decode(ByteSpan in, std::span<std::byte> out) override {
    stream_.next_in = as<char>(in.data());
    stream_.avail_in = static_cast<unsigned>(in.size());
    stream_.next_out = as<char>(out.data());
    stream_.avail_out = static_cast<unsigned>(out.size());
    const int told = ready_ ? BZ2_bzDecompress(&stream_) : BZ_PARAM_ERROR;
    return {.taken = in.size() - stream_.avail_in,
            .made = out.size() - stream_.avail_out,
            .stream_ended = told == BZ_STREAM_END,
            .damaged = told != BZ_OK && told != BZ_STREAM_END};
  }
  bool restart() override {
    if (ready_) BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    ready_ = BZ2_bzDecompressInit(&stream_, 0, 0) == BZ_OK;
    return ready_;
  }

 private:
  bz_stream stream_{};
  bool ready_ = false;
};

class Xz final : public Decoder {
 public:
  Xz() { restart(); }
  ~Xz() override { lzma_end(&stream_); }
  Progress decode(ByteSpan in, std::span<std::byte> out) override {
    stream_.next_in = as<const std::uint8_t>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = as<std::uint8_t>(out.data());
    stream_.avail_out = out.size();
    const lzma_ret told = lzma_code(&stream_, LZMA_RUN);
    return {.taken = in.size() - stream_.avail_in,
            .made = out.size() - stream_.avail_out,
            .stream_ended = told == LZMA_STREAM_END,
            .damaged = told != LZMA_OK && told != LZMA_STREAM_END && told != LZMA_BUF_ERROR};
  }
  bool restart() override {
    constexpr std::uint64_t kMemory = 256U << 20U;  // xz -9 wants 65 MiB
    return lzma_stream_decoder(&stream_, kMemory, 0) == LZMA_OK;
  }

 private:
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Brotli final : public Decoder {
 public:
  Brotli() : stream_(BrotliDecoderCreateInstance(nullptr, nullptr, nullptr)) {}
  ~Brotli() override { BrotliDecoderDestroyInstance(stream_); }
  Progress decode(ByteSpan in, std::span<std::byte> out) override {
    std::size_t in_left = in.size();
    std::size_t out_left = out.size();
    const auto* from = as<const std::uint8_t>(in.data());
    auto* into = as<std::uint8_t>(out.data());
    const auto told =
        BrotliDecoderDecompressStream(stream_, &in_left, &from, &out_left, &into, nullptr);
    return {.taken = in.size() - in_left,
            .made = out.size() - out_left,
            .stream_ended = told == BROTLI_DECODER_RESULT_SUCCESS,
            .damaged = told == BROTLI_DECODER_RESULT_ERROR};
  }
  bool restart() override { return false; }

 private:
  BrotliDecoderState* const stream_;
};

std::unique_ptr<Decoder> make_decoder(Codec codec) {
  switch (codec) {
    case Codec::gzip:
      return std::make_unique<Gzip>();
    case Codec::zstd:
      return std::make_unique<Zstd>();
    case Codec::bzip2:
      return std::make_unique<Bzip2>();
    case Codec::xz:
      return std::make_unique<Xz>();
    case Codec::brotli:
    case Codec::snappy:
      break;
  }
  return std::make_unique<Brotli>();
}

class Unpacking final : public ByteSource {
 public:
  Unpacking(ByteSource& compressed, Codec codec, std::uint64_t most)
      : compressed_(compressed), codec_(codec), most_(most), decoder_(make_decoder(codec)) {}

  Result<Bytes> next() override {
    if (failure_) return *failure_;
    Buffer out(kPiece);
    std::size_t made = 0;
    while (made < out.size() && !ended_ && !failure_) {
      if (!held_back_) {
        HEADRACE_TRY(const bool more, refill());
        ended_ = !more;
        if (ended_ && in_stream_) fail("ends too early");
        if (ended_) break;
      }
      if (between_) {
        if (!decoder_->restart()) {
          fail("has bytes after its end");
          break;
        }
        between_ = false;
      }
      in_stream_ = true;
      const Progress done = decoder_->decode(piece_.span(), out.span().subspan(made));
      const bool asked = !piece_.empty();
      piece_ = piece_.slice(done.taken, piece_.size() - done.taken);
      made += done.made;
      out_ += done.made;
      held_back_ = made == out.size() && !done.stream_ended;
      if (out_ > most_) {
        failure_ = Error(Code::exhausted, fmt::format("more than {} bytes come out of {}", most_,
                                                      to_string(codec_)));
        return *failure_;
      }
      // Without progress it would ask for ever.
      const bool stuck = asked && done.taken == 0 && done.made == 0 && !done.stream_ended;
      if (done.damaged || stuck) fail("is damaged");
      if (done.stream_ended) {
        between_ = true;
        in_stream_ = false;
      }
    }
    if (made == 0 && failure_) return *failure_;
    return std::move(out).freeze(made);
  }

 private:
  Result<bool> refill() {
    while (piece_.empty()) {
      HEADRACE_TRY(piece_, compressed_.next());
      if (piece_.empty()) return false;
    }
    return true;
  }
  void fail(std::string_view what) {
    failure_ = Error(Code::corrupt, fmt::format("the {} stream {}", to_string(codec_), what));
  }

  ByteSource& compressed_;
  const Codec codec_;
  const std::uint64_t most_;
  const std::unique_ptr<Decoder> decoder_;
  Bytes piece_;
  std::uint64_t out_ = 0;
  bool in_stream_ = false;
  bool between_ = false;    ///< a stream ended, and nothing of the next was seen
  bool held_back_ = false;  ///< the decoder may have more without further input
  bool ended_ = false;
  std::optional<Error> failure_;
};

/// Snappy as a block, which Python's `snappy.compress` writes: all or nothing.
class SnappyBlock final : public ByteSource {
 public:
  SnappyBlock(ByteSource& compressed, std::uint64_t most) : compressed_(compressed), most_(most) {}

  Result<Bytes> next() override {
    if (failure_) return *failure_;
    if (std::exchange(done_, true)) return Bytes();
    auto whole = unpack();
    if (!whole) failure_ = whole.error();
    return whole;
  }

 private:
  Result<Bytes> unpack() {
    const Error too_much(Code::exhausted,
                         fmt::format("more than {} bytes come out of snappy", most_));
    std::vector<char> in;
    while (true) {
      HEADRACE_TRY(const Bytes piece, compressed_.next());
      if (piece.empty()) break;
      if (in.size() + piece.size() > most_ + most_ / 4 + 64)  // it never grows so much
        return too_much;
      in.insert(in.end(), piece.text().begin(), piece.text().end());
    }
    const Error damaged(Code::corrupt, "the snappy block is damaged");
    std::size_t size = 0;
    if (snappy_uncompressed_length(in.data(), in.size(), &size) != SNAPPY_OK) return damaged;
    if (size > most_) return too_much;
    Buffer out(size);
    if (snappy_uncompress(in.data(), in.size(), as<char>(out.data()), &size) != SNAPPY_OK)
      return damaged;
    return std::move(out).freeze(size);
  }

  ByteSource& compressed_;
  const std::uint64_t most_;
  bool done_ = false;
  std::optional<Error> failure_;
};

}  // namespace

std::string_view to_string(Codec codec) {
  constexpr std::array<std::string_view, 6> kNames = {"gzip", "zstd",   "bzip2",
                                                      "xz",   "brotli", "snappy"};
  return kNames.at(static_cast<std::size_t>(codec));
}

std::optional<Codec> codec_of(ByteSpan first_bytes) {
  const std::string_view text = as_text(first_bytes);
  if (text.starts_with("\x1f\x8b\x08")) return Codec::gzip;
  if (text.starts_with("\x28\xb5\x2f\xfd")) return Codec::zstd;
  if (text.starts_with("BZh")) return Codec::bzip2;
  if (text.starts_with(std::string_view("\xfd"
                                        "7zXZ\0",
                                        6)))
    return Codec::xz;
  return std::nullopt;
}

std::unique_ptr<ByteSource> make_unpacking_source(ByteSource& compressed, Codec codec,
                                                  std::uint64_t most) {
  if (codec == Codec::snappy) return std::make_unique<SnappyBlock>(compressed, most);
  return std::make_unique<Unpacking>(compressed, codec, most);
}

}  // namespace headrace
