// SPDX-License-Identifier: Apache-2.0
/// \file What a job's options select of its data set: proportions of sets, weights of classes and
/// samples, as sampling/selection.h draws them.
///
/// A value and a function; thread-safe.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/records/dataset.h"
#include "headrace/sampling/selection.h"
#include "headrace/sampling/shuffle.h"

namespace headrace {

/// All multiply. Weights are relative, from 0.000001 to 1000000, or 0: never drawn.
struct SelectionOptions {
  Proportions proportions;
  /// Of each sample of a class, by its name or its number; others weigh 1.
  std::vector<std::pair<std::string, double>> class_weights;
  /// A file with the weight of each sample, a line for each, in canonical order; empty: none.
  std::string sample_weights;

  bool given() const {
    return proportions.given() || !class_weights.empty() || !sample_weights.empty();
  }
};

/// "cat=2.5": a class's name may have any characters, the last '=' counts.
Result<std::pair<std::string, double>> parse_class_weight(std::string_view text);

/// Null: each sample once.
///  * `invalid`   a shuffle that cannot be combined with it, a class that the set does not have, a
///                label that is not known before its sample is read, a file that does not fit
Result<std::unique_ptr<const Selection>> selection_of(const Dataset& dataset,
                                                      const SelectionOptions& options,
                                                      const Shuffle& shuffle,
                                                      const std::stop_token& stop = {});

}  // namespace headrace
