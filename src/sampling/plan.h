// SPDX-License-Identifier: Apache-2.0
/// \file Which positions a rank delivers in which batch; what happens at the tail.
///
/// Values and pure functions; thread-safe. With global batch G = batch × world, step s covers
/// positions [s·G, (s+1)·G), and rank r the r-th stretch of it: so the global batch sequence is
/// the same for any number of ranks with the same G. The last, incomplete step is dropped,
/// padded (with positions from the epoch's start, marked), wrapped (the same, not marked), or
/// shared out evenly.
#pragma once

#include <cstdint>
#include <string_view>

#include "headrace/base/result.h"

namespace headrace {

enum class Tail {
  keep,  ///< the last batch is short; every sample is delivered once; ranks differ by at most one
  drop,  ///< the incomplete step is left out, and counted as dropped
  pad,   ///< filled up, marked as padding
  wrap,  ///< filled up with the same samples, not marked: a consumer takes them as any other
};

std::string_view to_string(Tail tail);
Result<Tail> parse_tail(std::string_view text);

struct PlanOptions {
  std::uint64_t samples = 0;
  std::uint64_t batch = 1;  ///< per rank
  std::uint64_t rank = 0;
  std::uint64_t world = 1;
  Tail tail = Tail::keep;
};

/// A stretch of global positions: one rank's batch. The last `padded` of its `count` slots
/// repeat positions from the start of the epoch.
struct Stretch {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  std::uint64_t padded = 0;
};

class Plan {
 public:
  /// `invalid` for a batch or world of 0, or a rank outside the world.
  static Result<Plan> make(const PlanOptions& options);

  const PlanOptions& options() const { return options_; }
  std::uint64_t global_batch() const { return options_.batch * options_.world; }
  /// Steps in an epoch, the same on every rank (a rank's last batch may be empty under `keep`).
  std::uint64_t steps() const;
  /// This rank's part of a step. REQUIRES: step < steps()
  Stretch stretch(std::uint64_t step) const;
  /// The global position of slot i of a stretch (wraps for padding).
  std::uint64_t position(const Stretch& stretch, std::uint64_t slot) const;
  /// How many samples of this rank's share the epoch leaves out (tail `drop`): summed over the
  /// ranks it is the incomplete step.
  std::uint64_t dropped() const;
  /// How many samples of an epoch fall to this rank, dropped ones included and padding not:
  /// summed over the ranks it is the number of samples.
  std::uint64_t share_of_epoch() const;
  /// Global positions consumed, over all ranks, once so many steps are done.
  std::uint64_t position_after(std::uint64_t steps_done) const;
  /// The step that begins at this global position; resume under another rank count needs the
  /// same global batch. `steps()` for the end of the epoch, `invalid` inside a step.
  Result<std::uint64_t> step_at(std::uint64_t position) const;

 private:
  explicit Plan(const PlanOptions& options) : options_(options) {}

  PlanOptions options_;
};

}  // namespace headrace
