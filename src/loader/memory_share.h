// SPDX-License-Identifier: Apache-2.0
/// \file How the loader's one memory budget is shared between encoded bytes and batches.
///
/// Pure function; thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "headrace/loader/loader.h"

namespace headrace {

struct MemoryShare {
  std::size_t depth = 1;            ///< batches ahead of the consumer
  std::uint64_t encoded_bytes = 0;  ///< what is left for encoded pictures
};

/// Batches are made as far ahead as was asked for, but take at most half the budget, as long as
/// two are left: one that is filled while the consumer has the other. An eighth is for encoded
/// bytes however large the batches are: with less, requests would wait for one another.
inline MemoryShare share_memory(const LoaderOptions& options) {
  const std::uint64_t batch = options.decode ? options.batch * options.transform.sample_bytes() : 0;
  std::uint64_t depth = std::max(1U, options.depth);
  if (batch != 0) {
    const std::uint64_t fitting = options.budget_bytes / 2 / batch;
    depth = std::min(depth, std::max<std::uint64_t>(fitting, std::min<std::uint64_t>(depth, 2)));
  }
  const std::uint64_t used = std::min(options.budget_bytes, depth * batch);
  return {.depth = depth,
          .encoded_bytes = std::max(options.budget_bytes - used, options.budget_bytes / 8)};
}

}  // namespace headrace
