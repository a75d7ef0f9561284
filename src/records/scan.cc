// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/scan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "headrace/records/byte_source.h"
#include "headrace/records/parallel.h"
#include "headrace/storage/ranges.h"

namespace headrace {
namespace {

struct Walk {
  ShardFrames frames;
  std::uint64_t end = 0;  ///< where the next record begins, or the file's end
};

/// From the head at `begin` (or, with `search`, from the first that looks like one) until past
/// `until`.
Result<Walk> walk(Store& store, const ObjectInfo& object, const Framing& framing,
                  const ScanOptions& options, std::uint64_t begin, std::uint64_t until, bool search,
                  const std::stop_token& stop) {
  HEADRACE_TRY(auto frames, ShardFrames::make());
  const auto source = make_store_source(
      store, object,
      {.begin = begin, .ahead_end = until, .count = options.count, .fresh = options.fresh}, stop);
  Window window(*source, begin);
  std::uint64_t at = begin;
  if (search) {
    HEADRACE_TRY(at, framing.find_head(window, begin));
  }
  while (at < until) {
    window.drop_before(at);
    HEADRACE_TRY(const auto found, framing.step(window, at, false));
    if (found.kind == Step::Kind::end) {
      at = found.end;
      break;
    }
    if (found.kind == Step::Kind::frame) {
      HEADRACE_TRY(frames.add(found.begin, found.end, found.name));
    } else {
      HEADRACE_TRY(frames.add(Damage{.begin = found.begin, .end = found.end, .why = found.why}));
    }
    at = std::max(found.end, found.next);
  }
  return Walk{.frames = std::move(frames), .end = at};
}

Result<ShardFrames> scan_file(Store& store, const ObjectInfo& object, const Framing& framing,
                              const ScanOptions& options, const std::stop_token& stop) {
  constexpr std::uint64_t kMaxStretches = 256;  // each holds a descriptor until it is joined
  const std::uint64_t needed = (object.size / kMaxStretches + 4) & ~std::uint64_t{3};
  const std::uint64_t stretch = std::max(options.stretch_bytes, needed);
  const auto count = static_cast<std::size_t>((object.size + stretch - 1) / stretch);
  std::vector<std::optional<Walk>> walks(count);
  HEADRACE_TRY(parallel_for(count, options.threads, stop,
                            [&](std::size_t i, const std::stop_token& any_stop) -> Result<void> {
                              HEADRACE_TRY(walks[i],
                                           walk(store, object, framing, options, i * stretch,
                                                (i + 1) * stretch, i != 0, any_stop));
                              return {};
                            }));
  HEADRACE_TRY(auto all, ShardFrames::make());
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t until = (i + 1) * stretch;
    if (expected >= until) continue;  // one long record, or damage, covers the stretch
    if (i != 0 && !walks[i]->frames.begins_at(expected)) {
      HEADRACE_TRY(walks[i], walk(store, object, framing, options, expected, until, false, stop));
    }
    HEADRACE_TRY(all.add(walks[i]->frames, expected));
    expected = walks[i]->end;
    walks[i].reset();
  }
  HEADRACE_TRY(all.find_repeats());
  all.source = "scan";
  return all;
}

/// False if one of them is another one, or none, when it is read past every cache.
Result<bool> is_found_again(Store& store, const ObjectInfo& object, const Framing& framing,
                            const std::vector<Damage>& all, const std::stop_token& stop) {
  constexpr std::uint64_t kPiece = 64U << 10U;  // most are short
  for (const Damage& one : all) {
    const auto source = make_store_source(
        store, object,
        {.begin = one.begin, .ahead_end = one.end, .piece_bytes = kPiece, .fresh = true}, stop);
    Window window(*source, one.begin);
    HEADRACE_TRY(const auto found, framing.step(window, one.begin, false));
    if (found.kind != Step::Kind::damage ||
        Damage{.begin = found.begin, .end = found.end, .why = found.why} != one) {
      return false;
    }
  }
  return true;
}

}  // namespace

Result<ShardFrames> scan(Store& store, const ObjectInfo& object, const Framing& framing,
                         const ScanOptions& options, const std::stop_token& stop) {
  return scan_file(store, object, framing, options, stop)
      .at(object_place(store.describe(), object.key));
}

Result<ShardFrames> scan_surely(Store& store, const ObjectInfo& object, const Framing& framing,
                                const ScanOptions& options, Notices& notices,
                                const std::stop_token& stop) {
  HEADRACE_TRY(auto first, scan(store, object, framing, options, stop));
  const std::string place = object_place(store.describe(), object.key);
  auto again = is_found_again(store, object, framing, first.damage(), stop);
  if (!again) return std::move(again).error().at(place);
  if (*again) return first;
  ScanOptions past_caches = options;
  past_caches.count = nullptr;  // whoever waits was told one reading
  past_caches.fresh = true;
  HEADRACE_TRY(auto second, scan(store, object, framing, past_caches, stop));
  if (second.damage() != first.damage())
    note_read_again(notices, fmt::format("{} @ {}", place, first.damage().front().begin),
                    first.damage().front().why);
  return second;
}

void note_read_again(Notices& notices, const std::string& place, std::string_view why) {
  notices.add("read-again", fmt::format("{} was damaged when it was read first ({}) and was not "
                                        "when it was read again past the caches: this machine's "
                                        "memory or disk may be failing",
                                        place, why));
}

}  // namespace headrace
