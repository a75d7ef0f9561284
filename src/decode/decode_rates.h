// SPDX-License-Identifier: Apache-2.0
/// \file How fast pictures in memory become samples: several ways, turn by turn, in one run.
///
/// RandomResizedCrop 224 to float32 planes. Not to be run while anything else decodes in the
/// process, since it changes the vector unit for some ways.
#pragma once

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace {

struct DecodeRate {
  std::string who;
  unsigned threads = 1;
  double images_per_second = 0;      ///< by the clock; median of the turns
  double images_per_cpu_second = 0;  ///< by the threads' processor time, median: for a busy machine
  double bytes_touched_per_image = 0;
};

struct DecodeRateOptions {
  unsigned threads = 1;
  double seconds = 20;  ///< in total, over all ways
  unsigned turns = 9;
};

/// The ways, as `who` tells:
///   headrace-index       our decoder with a seek index
///   headrace-index-avx2  the same on AVX2 (left out where the processor has none)
///   headrace-first       our decoder without one, making it
///   libjpeg-turbo        libjpeg-turbo on the whole picture, then our resize
/// Pictures that do not decode are an error. REQUIRES: !pictures.empty()
Result<std::vector<DecodeRate>> measure_decode_rates(std::span<const Bytes> pictures,
                                                     const DecodeRateOptions& options,
                                                     const std::stop_token& stop);

/// "4:4:4", "4:2:0", "4:2:2", "grey", or "other": so that rates can be told apart.
std::string sampling_of(ByteSpan picture);

}  // namespace headrace
