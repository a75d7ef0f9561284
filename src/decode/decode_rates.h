// SPDX-License-Identifier: Apache-2.0
/// \file How fast pictures in memory become samples: several ways, turn by turn, in one run, each
/// with the same pictures and crops.
///
/// Not to be run while anything else decodes in the
/// process, since it changes the vector unit for some ways.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
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
  /// Of user space; nothing where the machine has no counter (most virtual ones).
  std::optional<double> instructions_per_image;
};

/// What becomes of a picture.
enum class DecodeWork {
  train,       ///< RandomResizedCrop 224 with flip, float32 planes
  validation,  ///< shorter side 256, centre crop 224, float32 planes
  whole,       ///< the whole picture, RGB; no resize, and an index is of no use
};
Result<DecodeWork> parse_decode_work(std::string_view text);

struct DecodeRateOptions {
  unsigned threads = 1;
  double seconds = 20;  ///< in total, over all ways
  unsigned turns = 9;
  DecodeWork work = DecodeWork::train;
};

/// The ways, as `who` tells:
///   headrace-index       our decoder with a seek index
///   headrace-first       our decoder without one, making it
///   libjpeg-turbo        libjpeg-turbo on the whole picture, then our resize; always the last
/// and the first two on AVX2, as `…-avx2` (left out where the processor has none). Of whole
/// pictures there is no -index. Pictures that do not decode are an error. REQUIRES:
/// !pictures.empty()
Result<std::vector<DecodeRate>> measure_decode_rates(std::span<const Bytes> pictures,
                                                     const DecodeRateOptions& options,
                                                     const std::stop_token& stop);

/// "4:4:4", "4:2:0", "4:2:2", "grey", or "other": so that rates can be told apart.
std::string sampling_of(ByteSpan picture);

}  // namespace headrace
