// SPDX-License-Identifier: Apache-2.0
/// \file Decode rates on the user's own pictures: what `headrace bench-decode` runs.
///
/// Not to be run while anything else decodes in the process.
#pragma once

#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/decode/decode_rates.h"

namespace headrace {

struct DecodeBenchOptions {
  std::string folder;        ///< searched for files, at any depth
  std::size_t limit = 1000;  ///< pictures, evenly chosen among the files
  DecodeRateOptions rates;   ///< seconds are shared among the groups
};

struct DecodeBenchReport {
  std::size_t pictures = 0;
  std::size_t left_out = 0;  ///< files that are no pictures, or damaged ones
  double mean_bytes = 0;
  std::string vector_unit;
  std::vector<DecodeRate> all;
  /// "4:4:4", "4:2:0", …: groups of a tenth of the pictures or more, if there are several.
  std::map<std::string, std::vector<DecodeRate>> by_sampling;
};

Result<DecodeBenchReport> run_decode_bench(const DecodeBenchOptions& options,
                                           const std::stop_token& stop);

}  // namespace headrace
