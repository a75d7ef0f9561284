// SPDX-License-Identifier: Apache-2.0
/// \file The stage that makes samples of bytes, and settles what happens to bad ones.
///
/// `run_decode_stage` is the body of each decode thread; what it shares is in DecodeJob.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "headrace/base/byte_budget.h"
#include "headrace/base/context.h"
#include "headrace/decode/decoder.h"
#include "headrace/loader/feed.h"
#include "headrace/loader/loader.h"
#include "headrace/loader/part_reads.h"
#include "headrace/loader/seek_memory.h"
#include "headrace/loader/window.h"

namespace headrace {

struct DecodeJob {
  const Context& context;
  Feed& feed;
  const Dataset& dataset;
  const LoaderOptions& options;
  ByteBudget& budget;
  Window& window;
  SeekMemory* seeks = nullptr;  ///< may be null
  PartReads* parts = nullptr;   ///< may be null; else there are seeks
  std::uint64_t epoch_samples = 0;
};

/// Takes places from the window until a stop is asked for.
void run_decode_stage(const DecodeJob& job, const std::stop_token& stop);

}  // namespace headrace
