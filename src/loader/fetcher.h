// SPDX-License-Identifier: Apache-2.0
/// \file The stage that asks for bytes: what to read was chosen before, here it is only walked.
///
/// `Walk` is a value. `run_fetcher` is the body of one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>

#include "headrace/base/byte_budget.h"
#include "headrace/loader/feed.h"
#include "headrace/loader/part_reads.h"
#include "headrace/loader/window.h"
#include "headrace/sampling/order.h"
#include "headrace/sampling/plan.h"

namespace headrace {

/// The batches of all epochs, one after the other.
class Walk {
 public:
  struct Range {
    std::uint64_t seed = 0;
    Shuffle shuffle = Shuffle::global;
    std::uint64_t first_epoch = 0;
    std::uint64_t first_step = 0;  ///< of the first epoch
    std::uint64_t end_epoch = 1;   ///< one behind the last
  };
  Walk(const Plan& plan, const Range& range);

  /// The next batch's places, or null after the last one.
  std::unique_ptr<Work> next();

 private:
  const Plan plan_;
  const Range range_;
  std::uint64_t epoch_;
  std::uint64_t step_;
  Order order_;
  std::vector<std::uint64_t> samples_;  ///< of one step
};

/// A place's request, as it is asked for the first time.
FeedRequest request_for(const Work& work, const Item& item, const std::stop_token& stop);

struct FetchJob {
  Feed& feed;
  const Dataset& dataset;
  ByteBudget& budget;
  Window& window;
  /// Called when all of an epoch has come and nothing of the next was asked for. For that the
  /// fetcher pauses once an epoch, for as long as its last reads take: so what an epoch cost can
  /// be told exactly, and batches made ahead bridge the pause.
  std::function<void(std::uint64_t epoch)> at_epoch_end;
  const PartReads* parts = nullptr;  ///< knows what of a record is enough; may be null
};

/// Asks for every place of the walk in delivery order, within the budget and the window's
/// limits, until the end, a stop or a failure.
void run_fetcher(const FetchJob& job, const Walk& walk, const std::stop_token& stop);

}  // namespace headrace
