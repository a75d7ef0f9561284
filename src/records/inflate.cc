// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <cassert>
#include <utility>

#include "headrace/records/zlib_call.h"

namespace headrace {
namespace {

constexpr std::size_t kPieceBytes = 64U << 10U;
// inflate() says so in data_type when it stops for Z_BLOCK.
constexpr int kAtBlock = 128;
constexpr int kLastBlock = 64;
constexpr int kBitsLeft = 7;

}  // namespace

Compression compression_of(ByteSpan first_bytes) {
  constexpr unsigned kDeflate = 8;
  if (first_bytes.size() < 2) return Compression::none;
  const auto first = static_cast<unsigned>(first_bytes[0]);
  const auto second = static_cast<unsigned>(first_bytes[1]);
  if (first == 0x1f && second == 0x8b) return Compression::gzip;
  const bool zlib = (first & 0x0fU) == kDeflate && first >> 4U <= 7 && (second & 0x20U) == 0 &&
                    (first << 8U | second) % 31 == 0;
  return zlib ? Compression::zlib : Compression::none;
}

std::vector<std::byte> inflate_head(ByteSpan first_bytes, Compression compression,
                                    std::size_t most) {
  std::vector<std::byte> head(most);
  z_stream stream{};
  if (::inflateInit2(&stream, zlib_call::window_bits(compression)) != Z_OK) return {};
  zlib_call::set_input(stream, first_bytes);
  zlib_call::set_output(stream, head);
  ::inflate(&stream, Z_SYNC_FLUSH);
  head.resize(most - stream.avail_out);
  ::inflateEnd(&stream);
  return head;
}

void InflateSource::End::operator()(z_stream_s* stream) const {
  ::inflateEnd(stream);
  delete stream;  // NOLINT(cppcoreguidelines-owning-memory): this is its owner's deleter
}

InflateSource::InflateSource(ByteSource& compressed, Compression compression,
                             SeekTableBuilder* table)
    : compressed_(compressed), compression_(compression), table_(table), stream_(new z_stream{}) {
  if (::inflateInit2(stream_.get(), zlib_call::window_bits(compression)) != Z_OK)
    fail("no memory to inflate");
  if (table_ != nullptr) table_->add_member(0, 0);
}

InflateSource::~InflateSource() = default;

std::uint64_t InflateSource::in() const { return in_ - stream_->avail_in; }

void InflateSource::fail(std::string why) {
  failure_ = std::move(why);
  ended_ = true;
}

Result<bool> InflateSource::refill() {
  HEADRACE_TRY(piece_, compressed_.next());
  in_ += piece_.size();
  zlib_call::set_input(*stream_, piece_.span());
  return !piece_.empty();
}

void InflateSource::end_member() {
  member_ended_ = true;
  if (compression_ == Compression::gzip) ::inflateReset(stream_.get());
}

void InflateSource::step(std::uint64_t given_before, std::size_t room) {
  const auto out = [&] { return given_before + room - stream_->avail_out; };
  if (member_ended_) {
    if (compression_ == Compression::zlib) {
      fail(fmt::format("bytes follow the end of the ZLIB stream, at {} of the file", in()));
      return;
    }
    member_ended_ = false;
    if (table_ != nullptr) table_->add_member(out(), in());
  }
  const int result = ::inflate(stream_.get(), table_ != nullptr ? Z_BLOCK : Z_NO_FLUSH);
  if (result == Z_STREAM_END) {
    end_member();
  } else if (result != Z_OK && result != Z_BUF_ERROR) {
    fail(fmt::format("the {} stream is damaged at {} of the file: {}", to_string(compression_),
                     in(), stream_->msg != nullptr ? stream_->msg : "cannot be inflated"));
  } else if (table_ != nullptr && (stream_->data_type & kAtBlock) != 0 &&
             (stream_->data_type & kLastBlock) == 0 && table_->wants_point(out())) {
    std::array<std::byte, 32768> window;  // NOLINT(*-member-init): filled by the next call
    unsigned size = 0;
    ::inflateGetDictionary(stream_.get(), zlib_call::as_output(window.data()), &size);
    table_->add_point({.out = out(),
                       .in = in(),
                       .bits = static_cast<std::uint16_t>(stream_->data_type & kBitsLeft)},
                      std::span(window).first(size));
  }
}

Result<Bytes> InflateSource::next() {
  if (ended_) return Bytes();
  Buffer buffer(kPieceBytes);
  zlib_call::set_output(*stream_, buffer.span());
  while (stream_->avail_out != 0 && !ended_) {
    if (stream_->avail_in == 0) {
      HEADRACE_TRY(const bool more, refill());
      if (!more) {
        ended_ = true;
        if (!member_ended_)
          fail(fmt::format("the {} stream is cut off at {} of the file", to_string(compression_),
                           in_));
        break;
      }
    }
    step(out_, buffer.size());
  }
  const std::size_t size = buffer.size() - stream_->avail_out;
  out_ += size;
  if (table_ != nullptr) table_->add_mark(out_, in());
  return std::move(buffer).freeze(size);
}

}  // namespace headrace
