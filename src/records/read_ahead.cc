// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/read_ahead.h"

#include <fmt/format.h>

#include <utility>

namespace headrace {
namespace {

constexpr std::uint64_t kRunBytes = 1U << 20U;
constexpr unsigned kBursts = 8;  // in which what may be in flight is asked for

}  // namespace

std::optional<SampleId> ReadAhead::skip_to_next() {
  while (next_ < stretch_.end && stretch_.takes && !stretch_.takes(SampleId{next_})) ++next_;
  if (next_ >= stretch_.end) return std::nullopt;
  return SampleId{next_};
}

/// In bursts: each read that finds its store idle costs waking a thread.
void ReadAhead::ask() {
  if (!asked_.empty() && runs_ + options_.requests / kBursts > options_.requests) return;
  while (runs_ < options_.requests && ask_run()) {
  }
}

/// False if nothing is left, or more would be above the budget.
bool ReadAhead::ask_run() {
  auto id = skip_to_next();
  if (!id) return false;
  if (!asked_.empty() && asked_bytes_ + set_.frame_bytes(*id) > options_.budget_bytes) return false;
  Extent whole = set_.locate(*id);
  const auto run = std::make_shared<Run>();
  run->offset = whole.range.offset;
  asked_.push_back({.id = *id, .range = whole.range, .run = run, .alone = true});
  asked_bytes_ += whole.range.length;
  ++next_;
  const bool whole_object = whole.range.offset == 0 && whole.range.length == whole.pin.size;
  while (!whole_object && (id = skip_to_next())) {
    const Extent more = set_.locate(*id);
    if (more.key != whole.key || more.range.offset != whole.range.offset + whole.range.length ||
        whole.range.length + more.range.length > kRunBytes ||
        asked_bytes_ + more.range.length > options_.budget_bytes) {
      break;
    }
    asked_.back().alone = false;
    asked_.push_back({.id = *id, .range = more.range, .run = run, .alone = false});
    asked_bytes_ += more.range.length;
    whole.range.length += more.range.length;
    ++next_;
  }
  ++runs_;
  auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
  run->answer = promise->get_future();
  store_.read({.key = std::move(whole.key),
               .range = whole.range,
               .pin = std::move(whole.pin),
               .stop = stop_},
              [promise](Result<ReadResult> result) { promise->set_value(std::move(result)); });
  return true;
}

std::optional<ReadAhead::Answer> ReadAhead::next() {
  ask();
  if (asked_.empty()) return std::nullopt;
  const Asked first = std::move(asked_.front());
  asked_.pop_front();
  asked_bytes_ -= first.range.length;
  if (asked_.empty() || asked_.front().run != first.run) --runs_;
  const auto& read = first.run->answer.get();
  ask();
  const std::uint64_t begin = first.range.offset - first.run->offset;
  if (read && begin + first.range.length > read->bytes.size()) {
    return Answer{.id = first.id,
                  .frame = Error(Code::corrupt, "the store gave fewer bytes than were asked for")};
  }
  if (read) {
    return Answer{.id = first.id, .frame = read->bytes.slice(begin, first.range.length)};
  }
  // What one of several frames suffers from must not be said of its neighbours.
  if (!first.alone)
    return Answer{.id = first.id, .frame = read_frame(store_, set_, first.id, false, stop_)};
  return Answer{.id = first.id, .frame = read.error()};
}

Result<Bytes> read_frame(Store& store, const Dataset& set, SampleId id, bool fresh,
                         const std::stop_token& stop) {
  Extent extent = set.locate(id);
  HEADRACE_TRY(auto read, read_now(frames_of(set, store), {.key = std::move(extent.key),
                                                           .range = extent.range,
                                                           .pin = std::move(extent.pin),
                                                           .fresh = fresh,
                                                           .stop = stop}));
  return std::move(read.bytes);
}

void note_second_look(Notices& notices, const Dataset& set, SampleId id, const Error& first) {
  notices.add("read-again",
              fmt::format("{} was damaged when it was read first ({}) and good when it was read "
                          "again past the caches: this machine's memory or disk may be failing",
                          set.name(id), first.cause()));
}

}  // namespace headrace
