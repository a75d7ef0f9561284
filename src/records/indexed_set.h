// SPDX-License-Identifier: Apache-2.0
/// \file What all data sets have in common whose samples are records of indexed containers: places
/// and names come from the index, class names from the class list; damage of the index is an error
/// of the sample. A format says what a frame means. The example to copy is recordio/recordio.cc.
///
/// Thread-safe once made.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headrace/records/class_file.h"
#include "headrace/records/classes.h"
#include "headrace/records/dataset.h"
#include "headrace/records/shard_index.h"

namespace headrace {

class IndexedSet : public Dataset {
 public:
  std::uint64_t size() const override { return index_.size(); }
  std::uint64_t frame_bytes(SampleId id) const override { return index_.frame_bytes(id); }
  Extent locate(SampleId id) const override { return index_.locate(id); }
  Result<Sample> parse(SampleId id, const Bytes& frame) const final {
    HEADRACE_TRY(index_.check(id));
    auto sample = sample_of(id, frame);
    if (!sample) return std::move(sample).error().at(name(id));
    return sample;
  }
  Result<RawRecord> raw(SampleId id, const Bytes& frame) const final {
    HEADRACE_TRY(index_.check(id));
    auto record = record_of(id, frame);
    if (!record) return std::move(record).error().at(name(id));
    return record;
  }
  std::string name(SampleId id) const override { return index_.name(id); }
  const std::vector<std::string>& classes() const override { return classes_.names(); }
  Hash128 fingerprint() const override { return fingerprint_; }
  std::string index_source() const override { return index_.source(); }
  std::vector<PlacedDamage> damage() const override { return index_.damage(); }

 protected:
  IndexedSet(ShardIndex index, ClassLabels classes)
      : index_(std::move(index)), classes_(std::move(classes)), fingerprint_(index_.fingerprint()) {
    add_to_fingerprint(classes_to_text(classes_.names()));
  }

  const ShardIndex& index() const { return index_; }
  /// Labels as the training set numbers them.
  Result<void> map_labels(std::vector<float>& labels) const { return classes_.map(labels); }
  /// An option that changes what the samples are.
  void add_to_fingerprint(std::string_view text) { fingerprint_ += hash_bytes(as_byte_span(text)); }

 private:
  /// As Dataset::parse and Dataset::raw, of a frame that is no damage. Errors need no name.
  virtual Result<Sample> sample_of(SampleId id, const Bytes& frame) const = 0;
  virtual Result<RawRecord> record_of(SampleId id, const Bytes& frame) const = 0;

  const ShardIndex index_;
  const ClassLabels classes_;
  Hash128 fingerprint_;
};

}  // namespace headrace
