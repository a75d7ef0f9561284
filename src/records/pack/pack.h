// SPDX-License-Identifier: Apache-2.0
/// \file A data set written as RecordIO: same samples, same order, same bytes of pictures.
///
/// Record i is sample i of the source, so that both give equal order digests. What is written
/// depends on the source's samples and on the options only: the same input gives the same bytes.
/// Pictures pass through untouched, even empty ones. Beside `NAME.rec` stand `NAME.idx` and
/// `NAME.lst`, and `NAME.classes.txt` if the source has class names; with several shards `NAME`
/// is `KEY-00000-of-00004`, and the class list is KEY's.
#pragma once

#include <atomic>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/context.h"
#include "headrace/records/dataset.h"
#include "headrace/records/read_ahead.h"
#include "headrace/storage/store.h"

namespace headrace {

/// Counts that may be read from another thread while the work runs.
struct WorkProgress {
  std::atomic<std::uint64_t> samples{0};
  std::atomic<std::uint64_t> bytes{0};
};

struct PackOptions {
  std::string key;                ///< of the output, without suffix: "train"
  std::uint64_t shards = 1;       ///< of about the same number of samples
  std::uint64_t shard_bytes = 0;  ///< if not 0: begin another shard before this size is passed
  bool replace = false;           ///< false: `invalid` if there is a set of this key already
  bool skip_bad = false;          ///< leave samples out that cannot be read, and report them
  ReadAheadOptions reading;
  WorkProgress* progress = nullptr;
  std::stop_token stop;
};

struct SkippedSample {
  std::string name;
  std::string why;
};

struct PackReport {
  std::uint64_t samples = 0;  ///< written
  std::uint64_t skipped = 0;
  std::uint64_t payload_bytes = 0;           ///< of pictures
  std::uint64_t record_bytes = 0;            ///< of all .rec
  std::vector<std::string> keys;             ///< written, in order
  std::vector<SkippedSample> first_skipped;  ///< at most 1000
};

/// Every object appears whole or not at all; when it fails, shards that were finished stay.
Result<PackReport> pack_recordio(Store& source, const Dataset& set, Store& destination,
                                 const PackOptions& options, const Context& context);

/// First sample of each shard, and at last the number of samples.
std::vector<std::uint64_t> plan_shards(const Dataset& set, std::uint64_t shards,
                                       std::uint64_t shard_bytes);

}  // namespace headrace
