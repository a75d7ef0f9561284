// SPDX-License-Identifier: Apache-2.0
/// \file The work of fetch: workers take the next piece of the next object, whoever is free.
///
/// One call.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/job/fetch/fetch.h"
#include "headrace/job/fetch/journal.h"
#include "headrace/records/object_index.h"

namespace headrace::fetching {

struct Download {
  Store& source;
  const ObjectIndex& objects;
  const std::vector<std::uint64_t>& missing;  ///< ordinals
  std::string folder;
  const FetchOptions& options;
  Journal& journal;
  std::uint64_t bytes_total = 0;
};

/// The first error, after all workers have ended.
Result<void> download(const Download& what, const std::stop_token& stop);

}  // namespace headrace::fetching
