// SPDX-License-Identifier: Apache-2.0
/// \file `inspect --replay`: a quarantine file's samples, read again and printed.
#pragma once

#include <stop_token>
#include <string>

#include "headrace/base/result.h"
#include "headrace/records/dataset.h"

namespace headrace::app {

/// The exit code: 0 if every sample is good by now. `options` open the sets.
Result<int> replay_quarantine(const std::string& path, const OpenOptions& options, bool json,
                              const std::stop_token& stop);

}  // namespace headrace::app
