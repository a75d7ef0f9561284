// SPDX-License-Identifier: Apache-2.0
/// \file What of a conversion is finished: one small object a shard, beside what is written.
///
/// They lie in the destination below `.headrace/convert/KEY/`, one JSON object each: `plan.json`
/// says which conversion it is and comes first, `shard-00007.json` comes when that shard is durable
/// and visible. Each appears whole and is written once, so processes and machines that share the
/// work need no lock, in a folder and in S3 alike. They go when the set is closed.
#pragma once

#include <cstdint>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/result.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/shard_writer.h"
#include "headrace/storage/store.h"

namespace headrace::converting {

/// Of one shard.
struct Receipt {
  WrittenShard written;
  std::uint64_t payload_bytes = 0;
  std::uint64_t skipped = 0;
  std::vector<SkippedSample> first_skipped;
};

class Receipts {
 public:
  /// Reads what is there. `job` is the conversion's identity.
  ///  * `invalid`   shards of another conversion are finished there, and not `discard`; else what
  ///                is left of it is removed
  static Result<Receipts> open(Store& store, const std::string& key, const Hash128& job,
                               bool discard, const std::stop_token& stop);

  /// True if this conversion was begun before.
  bool begun() const { return begun_; }
  /// True if another one was, of which nothing is left but what it wrote.
  bool discarded() const { return discarded_; }
  /// By number of the shard, of those whose objects are still there.
  const std::map<std::uint64_t, Receipt>& finished() const { return finished_; }

  Result<void> begin(const std::stop_token& stop);
  /// Thread-safe. Not remembered in `finished`.
  Result<void> add(std::uint64_t shard, const Receipt& receipt, const std::stop_token& stop) const;
  /// Removes them all, `plan.json` last.
  Result<void> remove(const std::stop_token& stop);

 private:
  Receipts(Store& store, std::string folder, const Hash128& job)
      : store_(store), folder_(std::move(folder)), job_(job) {}
  Result<void> read(const std::vector<std::string>& keys, const std::stop_token& stop);

  Store& store_;
  std::string folder_;
  Hash128 job_;
  bool begun_ = false;
  bool discarded_ = false;
  std::map<std::uint64_t, Receipt> finished_;
};

}  // namespace headrace::converting
