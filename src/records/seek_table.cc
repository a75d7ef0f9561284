// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/seek_table.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <utility>

#include "headrace/records/zlib_call.h"

namespace headrace {
namespace {

constexpr unsigned kGzipTrailer = 8;

struct Header {
  std::uint64_t compression = 0;
  std::uint64_t points = 0;
  std::uint64_t marks = 0;
  std::uint64_t window_bytes = 0;
};

template <class T>
void append(std::vector<std::byte>& out, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

template <class T>
T load(ByteSpan bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

template <class T>
std::span<const T> view(ByteSpan bytes, std::uint64_t offset, std::uint64_t count) {
  return {static_cast<const T*>(static_cast<const void*>(bytes.data() + offset)), count};
}

/// One inflation from a point on.
class Inflater {
 public:
  explicit Inflater(Compression compression) : compression_(compression) {}
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { ::inflateEnd(&stream_); }

  bool begin(const SeekPoint& point, ByteSpan window, ByteSpan bytes) {
    raw_ = point.wrapped == 0;
    const int bits = raw_ ? zlib_call::kRawBits : zlib_call::window_bits(compression_);
    if (::inflateInit2(&stream_, bits) != Z_OK) return false;
    if (point.bits != 0) {
      if (bytes.empty()) return false;
      const int rest = static_cast<int>(bytes[0]) >> (8 - point.bits);
      if (::inflatePrime(&stream_, point.bits, rest) != Z_OK) return false;
      bytes = bytes.subspan(1);
    }
    if (raw_ && !window.empty() &&
        ::inflateSetDictionary(&stream_, zlib_call::as_input(window.data()),
                               static_cast<uInt>(window.size())) != Z_OK)
      return false;
    zlib_call::set_input(stream_, bytes);
    return true;
  }

  /// Fills `room`. False if the bytes do not give it.
  bool fill(std::span<std::byte> room) {
    zlib_call::set_output(stream_, room);
    while (stream_.avail_out != 0) {
      const int result = ::inflate(&stream_, Z_NO_FLUSH);
      // Whatever follows: a stream whose checksum is wrong at its end has given these bytes, and
      // the index names the damage behind them.
      if (stream_.avail_out == 0) return true;
      if (result == Z_STREAM_END) {
        if (!next_member()) return false;
      } else if (result != Z_OK || stream_.avail_in == 0) {
        return false;
      }
    }
    return true;
  }

 private:
  bool next_member() {
    if (compression_ != Compression::gzip) return false;
    if (raw_) {
      if (stream_.avail_in < kGzipTrailer) return false;
      stream_.next_in += kGzipTrailer;
      stream_.avail_in -= uInt{kGzipTrailer};
      raw_ = false;
    }
    return ::inflateReset2(&stream_, zlib_call::window_bits(compression_)) == Z_OK;
  }

  const Compression compression_;
  z_stream stream_{};
  bool raw_ = false;
};

}  // namespace

std::string_view to_string(Compression compression) {
  switch (compression) {
    case Compression::gzip:
      return "GZIP";
    case Compression::zlib:
      return "ZLIB";
    case Compression::none:
      break;
  }
  return "no";
}

void SeekTableBuilder::add_point(SeekPoint point, ByteSpan window) {
  point.window_at = windows_.size();
  point.window_bytes = static_cast<std::uint32_t>(window.size());
  windows_.insert(windows_.end(), window.begin(), window.end());
  points_.push_back(point);
}

void SeekTableBuilder::add_member(std::uint64_t out, std::uint64_t in) {
  if (!points_.empty() && out < points_.back().out + kMemberSpacing) return;
  points_.push_back({.out = out, .in = in, .wrapped = 1});
}

std::vector<std::byte> SeekTableBuilder::to_bytes(Compression compression) const {
  const Header header{.compression = static_cast<std::uint64_t>(compression),
                      .points = points_.size(),
                      .marks = marks_.size(),
                      .window_bytes = windows_.size()};
  std::vector<std::byte> out;
  append<Header>(out, {&header, 1});
  append<SeekPoint>(out, points_);
  append<SeekMark>(out, marks_);
  append<std::byte>(out, windows_);
  return out;
}

Result<void> SeekTable::check(ByteSpan table) {
  const Error bad(Code::corrupt, "not a seek table");
  if (table.size() < sizeof(Header)) return bad;
  const auto header = load<Header>(table, 0);
  std::uint64_t left = table.size() - sizeof(Header);
  if (header.compression != static_cast<std::uint64_t>(Compression::gzip) &&
      header.compression != static_cast<std::uint64_t>(Compression::zlib))
    return bad;
  if (header.points == 0 || header.points > left / sizeof(SeekPoint)) return bad;
  left -= header.points * sizeof(SeekPoint);
  if (header.marks == 0 || header.marks > left / sizeof(SeekMark)) return bad;
  left -= header.marks * sizeof(SeekMark);
  if (header.window_bytes != left) return bad;
  for (std::uint64_t i = 0; i < header.points; ++i) {
    const auto point = load<SeekPoint>(table, sizeof(Header) + i * sizeof(SeekPoint));
    const bool good = point.window_at <= left && point.window_bytes <= left - point.window_at &&
                      point.bits < 8 && (point.bits == 0 || point.in != 0) &&
                      (i != 0 || (point.out == 0 && point.in == 0));
    if (!good) return bad;
  }
  return {};
}

SeekTable::SeekTable(ByteSpan table) {
  const auto header = load<Header>(table, 0);
  compression_ = static_cast<Compression>(header.compression);
  std::uint64_t at = sizeof(Header);
  points_ = view<SeekPoint>(table, at, header.points);
  at += header.points * sizeof(SeekPoint);
  marks_ = view<SeekMark>(table, at, header.marks);
  at += header.marks * sizeof(SeekMark);
  windows_ = table.subspan(at, header.window_bytes);
}

const SeekPoint& SeekTable::point_before(std::uint64_t begin) const {
  const auto after = std::ranges::upper_bound(points_, begin, {}, &SeekPoint::out);
  return *std::prev(after);  // the first is at 0
}

ByteRange SeekTable::range(std::uint64_t begin, std::uint64_t end) const {
  const SeekPoint& point = point_before(begin);
  auto mark = std::ranges::lower_bound(marks_, end, {}, &SeekMark::out);
  if (mark == marks_.end()) mark = std::prev(mark);
  std::uint64_t from = point.in - (point.bits != 0 ? 1 : 0);
  if (mark->in <= from) from = mark->in == 0 ? 0 : mark->in - 1;
  return {from, std::max<std::uint64_t>(mark->in - from, 1)};
}

Result<Bytes> SeekTable::inflate(ByteSpan bytes, std::uint64_t begin, std::uint64_t end) const {
  const SeekPoint& point = point_before(begin);
  const Error bad(Code::corrupt,
                  fmt::format("the {} file cannot be inflated here", to_string(compression_)));
  Inflater inflater(compression_);
  if (!inflater.begin(point, windows_.subspan(point.window_at, point.window_bytes), bytes))
    return bad;
  std::array<std::byte, 16384> scratch;  // NOLINT(*-member-init): written before it is read
  for (std::uint64_t skip = begin - point.out; skip != 0;) {
    const auto count = std::min<std::uint64_t>(skip, scratch.size());
    if (!inflater.fill(std::span(scratch).first(count))) return bad;
    skip -= count;
  }
  Buffer out(end - begin);
  if (!inflater.fill(out.span())) return bad;
  return std::move(out).freeze(end - begin);
}

}  // namespace headrace
