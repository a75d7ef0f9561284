// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tfrecord/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/tfrecord/frame.h"

namespace headrace::tfrecord {
namespace {

// Longer records are not held in memory to look at their CRC.
constexpr std::uint64_t kMaxChecked = 64U << 20U;

/// Damage that ends at the next head after `begin`.
Result<Step> damaged(Window& window, std::uint64_t begin, std::string why) {
  HEADRACE_TRY(const auto next, find_head(window, begin + 1));
  return Step{.kind = Step::Kind::damage, .begin = begin, .end = next, .why = std::move(why)};
}

/// True if bytes up to `end` are there. They are not pulled if the source is known to be shorter.
Result<bool> reaches(Window& window, std::uint64_t end) {
  if (const auto known = window.source_end(); known && *known < end) return false;
  return window.cover(end);
}

/// True if a record could begin at `end` or the source ends there.
Result<bool> ends_well(Window& window, std::uint64_t end) {
  HEADRACE_TRY(const bool more, window.cover(end + kHeaderBytes));
  if (!more) return window.end() == end;
  return length_in(window.slice(end, kHeaderBytes).span()).has_value();
}

}  // namespace

Result<Step> step(Window& window, std::uint64_t begin, bool keep) {
  HEADRACE_TRY(const bool header_there, window.cover(begin + kHeaderBytes));
  if (!header_there) {
    const std::uint64_t end = window.end();
    if (begin >= end) return Step{.kind = Step::Kind::end, .begin = end, .end = end};
    return damaged(window, begin,
                   fmt::format("the file ends {} bytes into a record's head of {}", end - begin,
                               kHeaderBytes));
  }
  const auto length = length_in(window.slice(begin, kHeaderBytes).span());
  if (!length)
    return damaged(window, begin, "no record begins here: the CRC of its length is wrong");
  const std::uint64_t left = UINT64_MAX - begin - kHeaderBytes - kFooterBytes;
  if (*length > left) return damaged(window, begin, fmt::format("a record of {} bytes", *length));
  const std::uint64_t end = begin + kHeaderBytes + *length + kFooterBytes;
  if (*length > kMaxChecked) {
    if (const auto known = window.source_end(); !keep && known && end <= *known)
      window.drop_before(end);  // whatever follows, this is the frame
    HEADRACE_TRY(const bool whole, reaches(window, end));
    if (whole) return Step{.kind = Step::Kind::frame, .begin = begin, .end = end};
  } else {
    HEADRACE_TRY(const bool whole, reaches(window, end));
    if (whole) {
      HEADRACE_TRY(const bool well, ends_well(window, end));
      if (well || unframe(window.slice(begin, end - begin)))
        return Step{.kind = Step::Kind::frame, .begin = begin, .end = end};
      return damaged(window, begin,
                     fmt::format("a record of {} bytes with a wrong CRC, behind which no other "
                                 "begins: bytes are missing",
                                 *length));
    }
  }
  return damaged(window, begin,
                 fmt::format("truncated: a record of {} bytes that leaves the file", *length));
}

Result<std::uint64_t> find_head(Window& window, std::uint64_t from) {
  constexpr std::uint64_t kPiece = 64U << 10U;
  std::uint64_t at = std::max(from, window.begin());
  while (true) {
    HEADRACE_TRY(const bool more, window.cover(at + kPiece));
    const std::uint64_t there = more ? kPiece : window.end() - std::min(at, window.end());
    if (there < kHeaderBytes) return window.end();
    const Bytes piece = window.slice(at, there);
    for (std::uint64_t i = 0; i + kHeaderBytes <= there; ++i) {
      // Nearly all are ruled out by their three highest bytes, before a CRC is computed.
      const auto high =
          static_cast<unsigned>(piece.span()[i + 5] | piece.span()[i + 6] | piece.span()[i + 7]);
      if (high != 0) continue;
      const auto length = length_in(piece.span().subspan(i));
      if (!length || *length > kMaxLength) continue;
      HEADRACE_TRY(const bool whole,
                   reaches(window, at + i + kHeaderBytes + *length + kFooterBytes));
      if (whole) return at + i;
    }
    at += there - kHeaderBytes + 1;
    window.drop_before(at);
  }
}

}  // namespace headrace::tfrecord
