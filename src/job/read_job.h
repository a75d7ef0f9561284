// SPDX-License-Identifier: Apache-2.0
/// \file A whole job without a model: every batch of every epoch is taken, as an accelerator of a
/// given speed would take it. What `headrace read` does between its options and its output.
///
/// One call, one job; hooks say what is thread-safe.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/job/job.h"
#include "headrace/job/nodes.h"
#include "headrace/job/read_state.h"

namespace headrace {

struct ReadOptions {
  JobOptions job;
  std::string validation;        ///< URI, read after each epoch; empty: none
  std::string validation_local;  ///< as JobOptions::local
  double accelerator_rate = 0;   ///< samples a second; 0: batches are dropped at once
  std::string state_file;        ///< written while it runs and at its end; empty: none
  std::optional<ReadState> resume;
};

struct ReadProgress {
  std::string phase;  ///< "opening", "fetching", "epoch", "validation"
  Loader::Progress loader;
  std::uint64_t end_epoch = 0;
  double samples_per_second = 0;  ///< of the last seconds
  std::uint64_t bytes_done = 0;   ///< "fetching"
  std::uint64_t bytes_total = 0;
};

struct ReadHooks {
  /// Twice a second, from a thread of its own; empty: never.
  std::function<void(const ReadProgress&)> progress;
};

struct ReadReport {
  Mode mode = Mode::direct;
  std::string format;
  std::string stands_on;  ///< Job::stands_on
  std::uint64_t samples = 0;
  std::vector<std::uint64_t> sets;  ///< samples of each set that was joined
  std::uint64_t classes = 0;
  Shuffle shuffle;
  std::uint64_t nodes = 1;    ///< that the ranks run on
  double launch_seconds = 0;  ///< from the process's start to the first batch
  double open_seconds = 0;    ///< of that, until the samples were numbered
  double total_seconds = 0;   ///< from the process's start to the end
  std::vector<EpochResult> epochs;
  std::vector<EpochResult> validation;
  std::optional<State> resumed_from;
  Metrics::Snapshot totals{};  ///< of this process: what came before the first epoch too
  std::vector<Notice> notices;
};

/// `cancelled` after a stop, with the state saved.
Result<ReadReport> run_read(const ReadOptions& options, const ReadHooks& hooks,
                            const std::stop_token& stop);

}  // namespace headrace
