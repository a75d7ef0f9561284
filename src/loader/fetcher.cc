// SPDX-License-Identifier: Apache-2.0
#include "headrace/loader/fetcher.h"

#include <utility>
#include <vector>

namespace headrace {
namespace {

/// How many samples the stores are told of ahead of those that are asked for: two seconds at
/// 1,000 pictures a second, and 200 kB of keys.
constexpr std::uint64_t kHintAhead = 2048;

/// Every record costs this much beside its own bytes, so that a window of tiny records stays
/// within the budget too.
constexpr std::uint64_t kOverhead = 256;

/// Tells the feed what follows, some way ahead of the fetches.
class Hints {
 public:
  Hints(Feed& feed, Walk walk) : feed_(feed), ahead_(std::move(walk)) {}

  void keep_ahead_of(std::uint64_t asked) {
    std::vector<SampleId> next;
    while (!ended_ && told_ < asked + kHintAhead) {
      const auto work = ahead_.next();
      if (!work) {
        ended_ = true;
        break;
      }
      for (const Item& item : work->items) next.push_back(SampleId{item.slot.sample_id});
      told_ += work->places();
    }
    if (!next.empty()) feed_.hint(next);
  }

 private:
  Feed& feed_;
  Walk ahead_;
  std::uint64_t told_ = 0;
  bool ended_ = false;
};

void fetch(const FetchJob& job, Work& work, std::size_t index, const std::stop_token& stop) {
  Window& window = job.window;
  Item& item = work.items[index];
  const FeedRequest request = request_for(work, item, stop);
  if (job.parts != nullptr) item.plan = job.parts->plan(request.sample, request.epoch);
  if (!item.plan) {
    return job.feed.fetch(request, [&window, &work, index](Result<Bytes> got) {
      window.arrived(work, index, std::move(got));
    });
  }
  const auto wanted = item.plan->wanted;  // once it has come, the item is another stage's
  job.feed.fetch_parts(request, wanted, [&window, &work, index](Result<FetchedFrame> got) {
    if (!got) return window.arrived(work, index, std::move(got).error());
    work.items[index].in_parts = !got->whole;
    window.arrived(work, index, std::move(got->bytes));
  });
}

}  // namespace

Walk::Walk(const Plan& plan, const Range& range)
    : plan_(plan),
      range_(range),
      epoch_(range.first_epoch),
      step_(range.first_step),
      order_(range.shuffle, range.seed, range.first_epoch, plan.options().samples) {}

std::unique_ptr<Work> Walk::next() {
  if (plan_.steps() == 0) return nullptr;
  if (epoch_ < range_.end_epoch && step_ == plan_.steps()) {
    ++epoch_;
    step_ = 0;
    order_ = Order(range_.shuffle, range_.seed, epoch_, plan_.options().samples);
  }
  if (epoch_ >= range_.end_epoch) return nullptr;
  auto work = std::make_unique<Work>();
  work->epoch = epoch_;
  work->step = step_;
  const Stretch stretch = plan_.stretch(step_);
  work->items.resize(stretch.count);
  samples_.resize(stretch.count);
  for (std::uint64_t i = 0; i < stretch.count; ++i) samples_[i] = plan_.position(stretch, i);
  order_.at(samples_);
  for (std::uint64_t i = 0; i < stretch.count; ++i) {
    Slot& slot = work->items[i].slot;
    slot.position = plan_.position(stretch, i);
    slot.sample_id = samples_[i];
    slot.padding = i >= stretch.count - stretch.padded;
  }
  ++step_;
  return work;
}

FeedRequest request_for(const Work& work, const Item& item, const std::stop_token& stop) {
  return {.epoch = work.epoch,
          .position = item.slot.position,
          .sample = SampleId{item.slot.sample_id},
          .stop = stop};
}

void run_fetcher(const FetchJob& job, const Walk& walk, const std::stop_token& stop) {
  Feed& feed = job.feed;
  Window& window = job.window;
  Walk steps = walk;
  Hints hints(feed, walk);
  std::uint64_t asked = 0;
  std::optional<std::uint64_t> epoch;
  while (auto next = steps.next()) {
    if (epoch && *epoch != next->epoch) {
      if (!window.wait_fetched(stop)) return;
      job.at_epoch_end(*epoch);
    }
    epoch = next->epoch;
    const std::size_t count = next->items.size();  // once all are asked for, the work may be gone
    asked += next->places();
    hints.keep_ahead_of(asked);
    Work* const work = window.add(std::move(next), stop);
    if (work == nullptr) return;
    for (std::size_t i = 0; i < count; ++i) {
      Item& item = work->items[i];
      const auto bytes = job.dataset.frame_bytes(SampleId{item.slot.sample_id}) + kOverhead;
      if (auto grant = job.budget.try_reserve(bytes)) {
        item.grant = std::move(*grant);
      } else {
        feed.flush();  // what is held back may be what everyone waits for
        item.grant = job.budget.reserve(bytes, stop);
      }
      if (!window.try_start()) {
        feed.flush();
        if (!window.start(stop)) return;
      }
      if (stop.stop_requested()) {
        window.arrived(*work, i, Error(Code::cancelled, "stopped"));
        return;
      }
      fetch(job, *work, i, stop);
    }
    feed.flush();
  }
  window.close();
}

}  // namespace headrace
