// SPDX-License-Identifier: Apache-2.0
/// \file What one run of `headrace read --json` measured, read back from its JSON. Values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::advisor {

struct EpochMeasurement {
  std::uint64_t epoch = 0;
  std::uint64_t delivered = 0;
  double seconds = 0;
  std::optional<double> accelerator_busy;  ///< 0 to 1; nothing without an accelerator
  std::string order_digest;
  std::string set_digest;
  std::uint64_t bytes_origin = 0;
  std::uint64_t bytes_cache = 0;
  std::uint64_t requests = 0;
};

struct Measurement {
  double launch_seconds = 0;             ///< process start to first batch
  double total_seconds = 0;              ///< process start to its end; as the one who waited saw it
  std::vector<EpochMeasurement> epochs;  ///< never empty
};

/// `corrupt`, with the field, if the text is not such an object. Fields that are not named above
/// are ignored: later versions add some. total_seconds is left 0.
Result<Measurement> parse_measurement(std::string_view json);

}  // namespace headrace::advisor
