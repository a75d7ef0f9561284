// SPDX-License-Identifier: Apache-2.0
/// \file The state file of `headrace read`: where the loader stands, and the epochs that ended
/// before, so that a resumed run reports the whole job.
///
/// Values; pure functions, and two that touch the file. The text is a loader's State with a line
/// more for each epoch that ended; State::parse leaves those alone.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/loader/loader.h"
#include "headrace/sampling/state.h"

namespace headrace {

struct EpochResult {
  EpochReport report;
  std::optional<double> accelerator_busy;  ///< 0 to 1; nothing without an accelerator
};

struct ReadState {
  State state;
  std::vector<EpochResult> epochs;      ///< that ended
  std::vector<EpochResult> validation;  ///< one for each of them, if there is validation

  std::string to_text() const;
  static Result<ReadState> parse(std::string_view text);
};

/// Of all ranks of one job, as `merge` of State says; ended epochs are added up.
Result<ReadState> merge(std::span<const ReadState> states);

/// Whole or not at all: written beside `path` and renamed.
Result<void> save(const ReadState& state, const std::string& path);
/// Several files are the states of all ranks.
Result<ReadState> load_read_state(std::span<const std::string> paths);

}  // namespace headrace
