// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/tar/walk.h"

#include <string>
#include <string_view>
#include <utility>

#include "headrace/base/digest.h"
#include "headrace/records/tar/names.h"

namespace headrace::tar {
namespace {

/// Zeros end a sample, too: what follows them may be another archive that was joined to this one.
Result<bool> zeros_at(Window& window, std::uint64_t at) {
  HEADRACE_TRY(const bool there, window.cover(at + kBlock));
  return !there || is_zero(window.slice(at, kBlock).span());
}

Step sample_step(std::string_view key, std::uint64_t begin, std::uint64_t end, std::uint64_t next) {
  return {.kind = Step::Kind::frame,
          .begin = begin,
          .end = end,
          .next = next,
          .name = hash_bytes(as_byte_span(key))};
}

}  // namespace

Result<Step> step(Window& window, std::uint64_t begin, bool keep) {
  std::string key;
  std::uint64_t first = 0;  // of its members
  std::uint64_t end = 0;    // of its last member; 0: it has none yet
  std::uint64_t at = begin;
  while (true) {
    if (end != 0) {
      HEADRACE_TRY(const bool zeros, zeros_at(window, at));
      if (zeros) return sample_step(key, first, end, at);
    }
    HEADRACE_TRY(const auto entry, read_entry(window, at));
    const bool is_entry = entry.kind == Entry::Kind::entry;
    if (!is_entry && end != 0) return sample_step(key, first, end, entry.begin);
    if (entry.kind == Entry::Kind::end)
      return Step{.kind = Step::Kind::end, .begin = entry.begin, .end = entry.end};
    if (entry.kind == Entry::Kind::damage) {
      HEADRACE_TRY(const auto next, find_head(window, entry.end));
      return Step{.kind = Step::Kind::damage, .begin = entry.begin, .end = next, .why = entry.why};
    }
    const auto name = entry.is_file() || entry.is_link() ? split_name(entry.name) : std::nullopt;
    if (name && entry.is_link()) {
      if (name->key == key) end = entry.end;  // who misses a field is told that it is a link
    } else if (name) {
      if (end != 0 && name->key != key) return sample_step(key, first, end, entry.begin);
      if (end == 0) {
        key = name->key;
        first = entry.begin;
      }
      end = entry.end;
    }
    at = entry.end;
    if (keep && end != 0) {
      HEADRACE_TRY(window.cover(end));
    } else if (!keep) {
      window.drop_before(at);
    }
  }
}

}  // namespace headrace::tar
