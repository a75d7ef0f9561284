// SPDX-License-Identifier: Apache-2.0
/// \file What all shard writers have in common whose shard is one object: records gather in memory,
/// go into the object in large pieces, and are counted. A format says what a sample looks like.
///
/// Not thread-safe. Examples: tar/writer.cc, tfrecord/writer.cc.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "headrace/records/shard_writer.h"

namespace headrace {

class OneObjectWriter : public ShardWriter {
 public:
  Result<void> add(const OutSample& sample) final;
  Result<WrittenShard> finish() final;

 protected:
  /// To be called once, before the first sample.
  Result<void> create(const SetPlace& place, std::string key);
  /// Bytes of the shard so far, before `encode`.
  std::uint64_t made() const { return made_ + pending_.size(); }

 private:
  virtual Result<void> append_sample(const OutSample& sample, std::vector<std::byte>& out) = 0;
  /// What stands behind the last sample.
  virtual void append_end(std::vector<std::byte>& /*out*/) {}
  /// How the bytes are stored, such as compressed; `last`: nothing follows.
  virtual Result<void> encode(std::vector<std::byte>& /*bytes*/, bool /*last*/) { return {}; }

  Result<void> flush(bool last);

  std::string key_;
  std::unique_ptr<ObjectWriter> object_;
  std::vector<std::byte> pending_;  ///< not yet handed over
  std::uint64_t made_ = 0;          ///< handed over, before `encode`
  std::uint64_t bytes_ = 0;         ///< handed over
  std::uint64_t samples_ = 0;
};

}  // namespace headrace
