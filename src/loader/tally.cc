// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/tally.h"

#include <fmt/format.h>

#include <algorithm>

#include "headrace/records/joined/joined.h"

namespace headrace {

Tally::Tally(const Dataset& dataset, const LoaderOptions& options, const Plan& plan,
             Quarantine quarantine)
    : dataset_(dataset),
      options_(options),
      samples_(plan.options().samples),
      share_(plan.share_of_epoch()),
      quarantine_(std::move(quarantine)) {}

Result<void> Tally::add(const Work& work, State& state) {
  State after = state;
  Ledger& ledger = after.ledger;
  for (const Item& item : work.items) {
    if (item.slot.padding) {  // padding is in no digest, and nobody asked for it
      if (!item.left_out) ++ledger.padded;
      continue;
    }
    ++ledger.asked;
    if (item.left_out) {
      ++ledger.skipped;
    } else {
      ++(item.slot.substitute ? ledger.substituted : ledger.delivered);
      after.order_digest += item.order;
      after.set_digest += item.set;
      after.in_parts += item.in_parts ? 1 : 0;
    }
    if (item.damage && quarantine_.enabled()) {
      HEADRACE_TRY(list({work.epoch, item.slot.position, *item.damage}));
      ++ledger.quarantined;
    }
  }
  const auto bad = static_cast<double>(ledger.skipped + ledger.substituted);
  if (bad > options_.max_bad * static_cast<double>(share_)) {
    return Error(Code::corrupt,
                 fmt::format("{} of {} samples of epoch {} are bad, more than the allowed share {}",
                             bad, share_, work.epoch, options_.max_bad),
                 "look at the quarantine file, or raise --max-bad");
  }
  state = std::move(after);
  return {};
}

Result<void> Tally::list(const FailedPlace& bad) {
  if (!quarantine_.enabled()) return {};
  const Order order(options_.shuffle, options_.seed, bad.epoch, samples_);
  const auto [index, set, id, uri] = member_of(dataset_, SampleId{order.at(bad.position)});
  return quarantine_.add({.uri = uri.empty() ? options_.uri : std::string(uri),
                          .name = set.name(id),
                          .extent = set.locate(id),
                          .record = record_number(set, id),
                          .sample = static_cast<std::uint64_t>(id),
                          .epoch = bad.epoch,
                          .position = bad.position},
                         bad.damage);
}

std::unique_ptr<Batch> fill_in(Work& work) {
  auto batch = std::move(work.batch);
  batch->epoch = work.epoch;
  batch->step = work.step;
  std::size_t width = 1;
  for (std::size_t i = 0; i < work.items.size(); ++i) {
    batch->slots[i] = work.items[i].slot;
    if (work.items[i].left_out) batch->drop(i);
    width = std::max(width, work.items[i].labels.size());
  }
  batch->compact();
  batch->label_width = width;
  batch->labels.assign(batch->count() * width, -1.0F);
  auto row = batch->labels.begin();
  for (const Item& item : work.items) {
    if (item.left_out) continue;
    std::copy(item.labels.begin(), item.labels.end(), row);
    row += static_cast<std::ptrdiff_t>(width);
  }
  return batch;
}

}  // namespace headrace
