// SPDX-License-Identifier: Apache-2.0
/// \file One training job from its options to its summary: what `headrace-train` does between
/// reading its command line and printing.
///
/// Call it once a process: it sets libtorch's number of threads.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/notices.h"
#include "headrace/base/result.h"
#include "headrace/consumers/train/group.h"
#include "headrace/consumers/train/learner.h"
#include "headrace/consumers/train/schedule.h"
#include "headrace/consumers/train/trainer.h"
#include "headrace/job/job.h"

namespace headrace {

struct TrainOptions {
  JobOptions data;               ///< its transform is the training set's
  std::string validation;        ///< URI; empty: none
  std::string validation_local;  ///< as JobOptions::local
  LearnerOptions learner;        ///< channels, height and width are the transform's; classes: 0 =
                                 ///< as many as the data set names
  Schedule schedule;             ///< epochs and updates are set from `data`
  std::string checkpoint;        ///< folder; empty: none
  std::uint64_t checkpoint_every = 0;
  bool resume = false;  ///< go on from `checkpoint`, if there is one
  bool losses = false;
};

/// "C,H,W" into the transform's size and colour. `invalid` unless C is 1 or 3.
Result<void> set_image_shape(std::string_view text, Transform& transform);

struct TrainResult {
  Ended ended = Ended::finished;
  nlohmann::json summary;  ///< what --json prints
  std::vector<Notice> notices;
};

Result<TrainResult> train(const TrainOptions& options, Group& group,
                          const std::function<void(const std::string&)>& log,
                          const std::stop_token& stop);

}  // namespace headrace
