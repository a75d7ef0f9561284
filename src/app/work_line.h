// SPDX-License-Identifier: Apache-2.0
/// \file The progress line of a command that goes through a whole set: rate and time left.
///
/// Shown from a thread of its own, on a terminal only, until it is destroyed.
#pragma once

#include <cstdint>
#include <string>
#include <thread>

#include "headrace/records/convert/convert.h"

namespace headrace::app {

class WorkLine {
 public:
  /// `progress` must outlive the line. `doing`: "packing".
  WorkLine(std::string doing, const WorkProgress& progress, std::uint64_t total_samples);

 private:
  std::jthread thread_;
};

}  // namespace headrace::app
