// SPDX-License-Identifier: Apache-2.0
/// \file Everything of a store into a folder: many objects at a time, large ones in pieces; whole
/// files or none; a second run goes on where the first one ended.
///
/// One call at a time a folder, which a lock sees to. FETCH.md says what lies in the folder.
///
///     HEADRACE_TRY(auto report, fetch(*s3, "/data/train", {}, stop));
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace {

struct FetchOptions {
  /// Reads in flight: small objects wait for the first byte, many at a time.
  unsigned workers = 256;
  std::uint64_t piece_bytes = std::uint64_t{4} << 20U;
  std::uint64_t budget_bytes = std::uint64_t{128} << 20U;  ///< of pieces in memory
  /// Keys that the listing does not give, such as the index beside a single object; what does
  /// not exist is left out.
  std::vector<std::string> also;
  /// What has come so far of what was missing; from any thread.
  std::function<void(std::uint64_t bytes_done, std::uint64_t bytes_total)> progress;
};

struct FetchReport {
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t fetched_objects = 0;  ///< by this call; the others were there already
  std::uint64_t fetched_bytes = 0;
};

/// Files have the keys as their names, and the objects' modification times.
///  * invalid     keys that no folder can hold, named; another fetch writes there; or the folder
///                lies in the source
///  * exhausted   less space on the volume than is needed, before anything is read
///  * changed     an object was replaced since it was listed
///  * not_found   there is nothing to fetch
Result<FetchReport> fetch(Store& source, const std::string& folder, const FetchOptions& options,
                          const std::stop_token& stop);

}  // namespace headrace
