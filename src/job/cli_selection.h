// SPDX-License-Identifier: Apache-2.0
/// \file The options that say how much an epoch has of each set, class and sample, for every
/// command line that delivers data or prepares for it.
///
/// Not thread-safe; for `main`, which links CLI11.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "headrace/job/selection_words.h"
#include "headrace/loader/selection_of.h"

namespace headrace {

/// --repeat, --shares, --epoch-samples, --class-weights, --sample-weights. `selection` must live
/// until the command line was parsed.
inline void add_selection_options(CLI::App& command, SelectionOptions& selection,
                                  const std::string& group = "Options") {
  const auto flag = [](const SelectionWord& word) { return "--" + std::string(word.name); };
  const auto help = [](const SelectionWord& word) { return std::string(word.help); };
  using namespace selection_words;
  auto* const times = command.add_option(flag(repeat), selection.proportions.repeat, help(repeat))
                          ->delimiter(',')
                          ->allow_extra_args(false)
                          ->group(group);
  command.add_option(flag(shares), selection.proportions.shares, help(shares))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes(times)
      ->group(group);
  command.add_option(flag(epoch_samples), selection.proportions.epoch_samples, help(epoch_samples))
      ->group(group);
  command
      .add_option_function<std::vector<std::string>>(
          flag(class_weights),
          [&selection](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              auto weight = parse_class_weight(text);
              if (!weight)
                throw CLI::ValidationError("--class-weights", weight.error().to_string());
              selection.class_weights.push_back(*std::move(weight));
            }
          },
          help(class_weights))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->group(group);
  command.add_option(flag(sample_weights), selection.sample_weights, help(sample_weights))
      ->group(group);
}

}  // namespace headrace
