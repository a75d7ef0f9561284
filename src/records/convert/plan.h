// SPDX-License-Identifier: Apache-2.0
/// \file What a conversion writes where: which samples go into which set, and where shards begin.
///
/// A pure function of the set and of the options, so that machines that share the work agree
/// without a word. Immutable: thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "headrace/base/mapped_array.h"
#include "headrace/base/result.h"
#include "headrace/records/convert/convert.h"
#include "headrace/records/dataset.h"
#include "headrace/records/shard_writer.h"

namespace headrace::converting {

struct PlannedShard {
  std::size_t set = 0;
  std::uint64_t number = 0;  ///< within its set
  std::uint64_t begin = 0;   ///< ids of the source, of which those of its set belong to it
  std::uint64_t end = 0;

  bool operator==(const PlannedShard&) const = default;
};

/// The first label of every sample.
using Labels = MappedArray<float>;

class Plan {
 public:
  /// `labels` are needed if options.stratified.
  static Result<Plan> make(const Dataset& set, const ConvertOptions& options,
                           const WriterKind& kind, const std::optional<Labels>& labels);

  const std::vector<WrittenSet>& sets() const { return sets_; }
  const std::vector<PlannedShard>& shards() const { return shards_; }
  bool split() const { return sets_.size() > 1; }
  /// Which set a sample belongs to.
  std::size_t set_of(std::uint64_t id) const { return split() ? side_[id] : 0; }
  /// First and last + 1 of the shards of a part. REQUIRES: 1 <= part <= parts
  std::pair<std::size_t, std::size_t> part(std::uint64_t part, std::uint64_t parts) const;

 private:
  std::vector<WrittenSet> sets_;
  std::vector<PlannedShard> shards_;
  MappedArray<std::uint8_t> side_;  ///< of each sample, if it is split
};

}  // namespace headrace::converting
