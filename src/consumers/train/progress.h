// SPDX-License-Identifier: Apache-2.0
/// \file How far a training job is, as values that a checkpoint carries and `--json` prints.
///
/// Not thread-safe. Reading back gives the same numbers to the last bit.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/consumers/train/learner.h"

namespace headrace {

struct EpochRecord {
  std::uint64_t epoch = 0;
  Marks train;                 ///< summed so far
  double seconds = 0;          ///< of training, without validation; over all attempts
  std::vector<double> losses;  ///< mean loss of each step, where they are asked for
  std::string order_digest;    ///< empty until the epoch ended, as the next
  std::string set_digest;
  std::optional<Marks> validation;

  double train_loss() const;
  double train_accuracy() const;
  double samples_per_second() const;
  std::optional<double> validation_accuracy() const;
};

struct Progress {
  std::vector<EpochRecord> done;
  EpochRecord current;
  bool validate = false;  ///< current's training ended; its validation is due

  /// Of the epochs that are done; nothing without validation.
  std::optional<double> best_accuracy() const;
};

nlohmann::json to_json(const EpochRecord& record);
nlohmann::json to_json(const Progress& progress);
/// `corrupt` if keys are missing or of another type.
Result<Progress> parse_progress(const nlohmann::json& json);

}  // namespace headrace
