// SPDX-License-Identifier: Apache-2.0
/// \file What `verify` finds in a stretch of a set, and how findings of stretches become a report.
///
/// Not thread-safe: one thread a Findings; one at a time merges.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/mapped_array.h"
#include "headrace/records/dataset.h"
#include "headrace/records/verify/verify.h"

namespace headrace::verifying {

struct Seen {
  Hash128 payload;
  std::uint64_t sample;
  std::uint32_t bytes;  ///< of the payload, for the report; cut at 4 GiB
  float label;
};

/// Of one stretch.
class Findings {
 public:
  explicit Findings(const Dataset& set) : set_(set) {}

  void add_bad(SampleId id, std::string why);
  void add_kind(std::string_view kind) { ++part_.kinds[std::string(kind)]; }
  void add_good(SampleId id, const Sample& sample, PictureSize size);

 private:
  friend class Merger;
  void add_odd(SampleId id, std::uint64_t bytes, PictureSize size);

  const Dataset& set_;
  VerifyReport part_;
  std::vector<Seen> seen_;
};

/// Findings may come in any order; the report is the same.
class Merger {
 public:
  static Result<Merger> make(const Dataset& set);

  Result<void> add(Findings findings);
  /// Looks for repeated pictures, and closes the lists.
  VerifyReport finish();

 private:
  Merger(const Dataset& set, MappedArray<Seen> seen) : set_(&set), seen_(std::move(seen)) {}
  void find_repeated();
  SameContent group(std::span<const Seen> same) const;

  const Dataset* set_;
  MappedArray<Seen> seen_;
  VerifyReport report_;
};

}  // namespace headrace::verifying
