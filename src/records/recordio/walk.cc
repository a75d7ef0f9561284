// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/recordio/walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headrace/records/recordio/frame.h"

namespace headrace::recordio {
namespace {

/// Damage that ends at the next head after `begin`, wherever the walk stopped.
Result<Step> damaged(Window& window, std::uint64_t begin, std::string why) {
  // The frame's own head is not searched: it may look right, with a length that is wrong.
  HEADRACE_TRY(const auto next, find_head(window, begin + 4));
  return Step{.kind = Step::Kind::damage, .begin = begin, .end = next, .why = std::move(why)};
}

/// True if bytes up to `end` are there. They are not pulled if the source is known to be shorter.
Result<bool> reaches(Window& window, std::uint64_t end) {
  if (const auto known = window.source_end(); known && *known < end) return false;
  return window.cover(end);
}

}  // namespace

Result<Step> step(Window& window, std::uint64_t begin, bool keep) {
  std::uint64_t at = begin;
  for (int part = 0;; ++part) {
    HEADRACE_TRY(const bool header_there, window.cover(at + kHeaderBytes));
    if (!header_there) {
      const std::uint64_t end = window.end();
      if (part == 0 && at >= end) return Step{.kind = Step::Kind::end, .begin = end, .end = end};
      return damaged(window, begin,
                     part == 0 ? fmt::format("{} bytes after the last record", end - at)
                               : "the end in the middle of a record of several parts");
    }
    if (window.word(at) != kMagic) {
      return damaged(window, begin,
                     part == 0 ? "no RecordIO magic"
                               : fmt::format("no RecordIO magic at part {} of a record", part));
    }
    const PartHeader header(window.word(at + 4));
    if (part == 0 && !header.begins())
      return damaged(window, begin, fmt::format("a record that begins with flag {}", header.flag));
    if (part != 0 && header.begins()) {
      return Step{.kind = Step::Kind::damage,
                  .begin = begin,
                  .end = at,
                  .why = "a record of several parts without its last part"};
    }
    if (part != 0 && !header.goes_on()) {
      return damaged(window, begin,
                     fmt::format("flag {} at part {} of a record", header.flag, part));
    }
    const std::uint64_t end = at + kHeaderBytes + header.length;
    const std::uint64_t padded_end = at + kHeaderBytes + padded(header.length);
    if (!keep && header.ends()) {
      if (const auto known = window.source_end(); known && padded_end <= *known)
        window.drop_before(padded_end);  // nothing that follows can make this frame wrong
    }
    HEADRACE_TRY(const bool whole, reaches(window, padded_end));
    if (!whole) {
      HEADRACE_TRY(const bool payload_there, reaches(window, end));
      if (payload_there && header.ends()) {
        HEADRACE_TRY(window.cover(padded_end));  // finds the source's end
        return Step{
            .kind = Step::Kind::frame, .begin = begin, .end = window.end(), .unpadded = true};
      }
      return damaged(window, begin,
                     fmt::format("a record of {} bytes that leaves the file", header.length));
    }
    at = padded_end;
    if (header.ends()) return Step{.kind = Step::Kind::frame, .begin = begin, .end = at};
  }
}

Result<std::uint64_t> find_head(Window& window, std::uint64_t from) {
  for (std::uint64_t at = std::max((from + 3) & ~std::uint64_t{3}, window.begin());; at += 4) {
    HEADRACE_TRY(const bool there, window.cover(at + kHeaderBytes));
    if (!there) return window.end();
    if (window.word(at) == kMagic && PartHeader(window.word(at + 4)).begins()) return at;
    if (at % 65536 == 0) window.drop_before(at);
  }
}

}  // namespace headrace::recordio
