// SPDX-License-Identifier: Apache-2.0
/// \file Fills the node cache with a data set before anyone needs it: `headrace keep warm`.
///
/// One call; the progress hook is called from another thread.
#pragma once

#include <functional>
#include <stop_token>

#include "headrace/base/notices.h"
#include "headrace/job/job.h"

namespace headrace {

struct WarmReport {
  std::uint64_t samples = 0;         ///< that were read
  std::uint64_t fetched_bytes = 0;   ///< from the origin, now
  std::uint64_t present_bytes = 0;   ///< kept before, read again and verified
  std::uint64_t not_kept_bytes = 0;  ///< no room, or the disk is in trouble
  std::uint64_t limit_bytes = 0;     ///< of the cache
  double seconds = 0;
  std::vector<Notice> notices;
};

/// Reads every sample once, in canonical order, without decoding, through the cache that `options`
/// name; mode, order and epochs in them do not matter. Of several sets, and of classes or samples
/// with weights, what a job with these options can draw in some epoch. What is damaged there is
/// fetched again.
Result<WarmReport> warm(JobOptions options, const std::function<void(const Loader::Progress&)>& on,
                        const std::stop_token& stop);

}  // namespace headrace
