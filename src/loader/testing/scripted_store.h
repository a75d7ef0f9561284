// SPDX-License-Identifier: Apache-2.0
/// \file A store that answers late, out of order, and with what a test wrote down; and records
/// what was asked. Beside it a data set of equal records in one object.
///
/// Thread-safe. Reads complete on the store's own threads, in an order that depends on a seed.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/records/dataset.h"
#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/memory/memory_store.h"

namespace headrace::testing {

class ScriptedStore final : public ForwardingStore<> {
 public:
  /// `threads` = 0: completes before `read` returns.
  explicit ScriptedStore(unsigned threads = 2, std::uint64_t seed = 1);
  ~ScriptedStore() override;

  /// The next `times` reads of `key` fail so (-1: all); a `fresh` read is not affected if
  /// `heals`. Put content with `put(*store, …)`.
  void fail(const std::string& key, Code code, int times = -1, bool heals = false);
  /// Reads of `key` (all, if empty) wait for a stop or for `resume`.
  void hold(const std::string& key);
  void resume();

  std::vector<ReadRequest> reads() const;
  std::size_t most_in_flight() const;
  std::vector<Wanted> hints() const;

  void read(ReadRequest request, ReadDone done) override;
  void hint(std::span<const Wanted> wanted) override;

 private:
  struct Fault {
    Code code = Code::corrupt;
    int times = -1;
    bool heals = false;
  };
  struct Pending {
    ReadRequest request;
    ReadDone done;
  };
  void serve(const std::stop_token& stop);
  std::optional<Pending> choose() HEADRACE_REQUIRES(mutex_);
  void answer(Pending pending);
  std::optional<Error> fault_of(const ReadRequest& request);
  bool held(const ReadRequest& request) const HEADRACE_REQUIRES(mutex_);

  MemoryStore memory_;
  mutable Mutex mutex_;
  Condition changed_;
  std::deque<Pending> pending_ HEADRACE_GUARDED_BY(mutex_);
  std::map<std::string, Fault> faults_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<ReadRequest> reads_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<Wanted> hints_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::string> holds_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t in_flight_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::size_t most_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t turn_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::jthread> threads_;
};

/// `count` records of `record_bytes` each, side by side in the object "records"; the label of a
/// record is its number mod 3.
class FixedRecords final : public Dataset {
 public:
  /// Puts the object into `store` too.
  FixedRecords(Store& store, std::uint64_t count, std::uint64_t record_bytes);

  std::string format() const override { return "fixed"; }
  std::uint64_t size() const override { return count_; }
  std::uint64_t frame_bytes(SampleId) const override { return record_bytes_; }
  Extent locate(SampleId id) const override;
  Result<Sample> parse(SampleId id, const Bytes& frame) const override;
  std::string name(SampleId id) const override;
  const std::vector<std::string>& classes() const override { return classes_; }
  Hash128 fingerprint() const override { return {count_, record_bytes_}; }

 private:
  const std::uint64_t count_, record_bytes_;
  const std::vector<std::string> classes_;
  Pin pin_;
};

}  // namespace headrace::testing
