// SPDX-License-Identifier: Apache-2.0
#include "headrace/records/read_ahead.h"

#include <utility>

namespace headrace {

void ReadAhead::ask() {
  while (next_to_ask_ < set_.size() && asked_.size() < options_.requests) {
    const SampleId id{next_to_ask_};
    const std::uint64_t bytes = set_.frame_bytes(id);
    if (!asked_.empty() && asked_bytes_ + bytes > options_.budget_bytes) return;
    auto promise = std::make_shared<std::promise<Result<ReadResult>>>();
    asked_.push_back({.bytes = bytes, .answer = promise->get_future()});
    asked_bytes_ += bytes;
    ++next_to_ask_;
    Extent extent = set_.locate(id);
    store_.read({.key = std::move(extent.key),
                 .range = extent.range,
                 .pin = std::move(extent.pin),
                 .stop = stop_},
                [promise](Result<ReadResult> result) { promise->set_value(std::move(result)); });
  }
}

std::optional<ReadAhead::Answer> ReadAhead::next() {
  ask();
  if (asked_.empty()) return std::nullopt;
  Asked first = std::move(asked_.front());
  asked_.pop_front();
  asked_bytes_ -= first.bytes;
  const SampleId id{next_to_give_++};
  auto read = first.answer.get();
  ask();
  if (!read) return Answer{.id = id, .frame = std::move(read).error()};
  return Answer{.id = id, .frame = std::move(read->bytes)};
}

}  // namespace headrace
