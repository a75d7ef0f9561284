// SPDX-License-Identifier: Apache-2.0
#include "headrace/consumers/pipe/ordered_reads.h"

#include <utility>

namespace headrace::pipe {

OrderedReads::OrderedReads(Store& store, Source source, const Limits& limits,
                           const std::stop_token& stop)
    : store_(store),
      source_(std::move(source)),
      limits_(limits),
      forward_(stop, [this] { stop_.request_stop(); }) {}

OrderedReads::~OrderedReads() {
  stop_.request_stop();
  MutexLock lock(mutex_);
  while (in_flight_ != 0) lock.wait(changed_);
}

/// Starts as many reads as may be open; always one, however large it is, if nothing is open.
void OrderedReads::ask() {
  while (!ended_) {
    if (!held_) held_ = source_();
    if (!held_) {
      ended_ = true;
      return;
    }
    auto slot = std::make_shared<Slot>();
    const std::uint64_t length = held_->extent.range.length;
    {
      const MutexLock lock(mutex_);
      const bool fits = bytes_ + length <= limits_.budget_bytes && in_flight_ < limits_.requests;
      if (!fits && !slots_.empty()) return;
      slot->piece = *std::exchange(held_, std::nullopt);
      slots_.push_back(slot);
      bytes_ += length;
      ++in_flight_;
    }
    store_.read({.key = slot->piece.extent.key,
                 .range = slot->piece.extent.range,
                 .pin = slot->piece.extent.pin,
                 .stop = stop_.get_token()},
                [this, slot](Result<ReadResult> got) {
                  const MutexLock lock(mutex_);
                  if (got) {
                    slot->bytes.emplace(std::move(got->bytes));
                  } else {
                    slot->bytes.emplace(std::move(got).error());
                  }
                  --in_flight_;
                  changed_.notify_all();
                });
  }
}

std::optional<OrderedReads::Answer> OrderedReads::next() {
  ask();
  std::shared_ptr<Slot> slot;
  {
    MutexLock lock(mutex_);
    if (slots_.empty()) return std::nullopt;
    while (!slots_.front()->bytes) lock.wait(changed_);  // a stop ends the read itself
    slot = std::move(slots_.front());
    slots_.pop_front();
    bytes_ -= slot->piece.extent.range.length;
  }
  return Answer{std::move(slot->piece), *std::move(slot->bytes)};
}

}  // namespace headrace::pipe
