// SPDX-License-Identifier: Apache-2.0
/// \file The training loop: batches from a loader into a learner, epoch by epoch, with validation,
/// checkpoints and the log lines of the built-in image classifier.
///
/// Not thread-safe. Killed at any moment and started again from its last checkpoint, a job ends
/// with the losses and digests of an unbroken one. The example is train_job.cc.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <stop_token>
#include <string>

#include "headrace/base/clock.h"
#include "headrace/base/result.h"
#include "headrace/consumers/train/group.h"
#include "headrace/consumers/train/learner.h"
#include "headrace/consumers/train/progress.h"
#include "headrace/consumers/train/schedule.h"
#include "headrace/loader/loader.h"

namespace headrace {

/// What the trainer works with. Everything outlives it; all ranks have their own.
struct TrainerParts {
  Learner& learner;
  Group& group;
  Loader& train;       ///< stands where `progress.current` does
  Loader* validation;  ///< null: none; its next epoch is `progress.current.epoch`
  Clock& clock;
  std::function<void(const std::string&)> log;  ///< gets a line without its end
};

struct TrainerOptions {
  std::uint64_t epochs = 1;
  std::uint64_t classes = 0;
  Schedule schedule;
  std::string checkpoint;              ///< folder; empty: none are written
  std::uint64_t checkpoint_every = 0;  ///< steps; 0: at epoch ends only
  bool losses = false;                 ///< keep each step's loss
  nlohmann::json job;                  ///< goes into checkpoints as it is: recipe, classes, …
};

enum class Ended { finished, stopped };

class Trainer {
 public:
  Trainer(TrainerParts parts, TrainerOptions options, Progress progress);

  /// Until all epochs are done, or a stop is asked for on any rank: then after the step that is
  /// under way, with a checkpoint.
  Result<Ended> run(const std::stop_token& stop);

  const Progress& progress() const { return progress_; }
  /// When the first batch was ready.
  std::optional<Nanos> first_batch() const { return first_batch_; }

 private:
  Result<Ended> train_epoch(const std::stop_token& stop);
  Result<Ended> validate(const std::stop_token& stop);
  Result<Ended> step(Batch& batch, const std::stop_token& stop);
  Result<std::string> sum_digests(const Hash128& share);
  Result<Ended> stop_at(const State& where);
  Result<void> finish_epoch();
  Lesson lesson(Batch& batch, std::span<const std::int64_t> classes,
                const std::stop_token& stop) const;
  Result<void> save(const std::string& name);
  Result<void> save(const std::string& name, const State& where);
  Result<std::vector<std::int64_t>> classes_of(const Batch& batch) const;
  void log_speed(std::uint64_t step);
  void log_rate(const Batch& batch, double rate);

  TrainerParts parts_;
  TrainerOptions options_;
  Progress progress_;
  std::optional<Nanos> first_batch_;
  double last_rate_ = 0;
};

}  // namespace headrace
