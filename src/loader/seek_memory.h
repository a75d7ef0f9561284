// SPDX-License-Identifier: Apache-2.0
/// \file What a job's first decode of each picture found out about where decoding can begin in it,
/// so that later epochs read only what their crops need.
///
/// Thread-safe: any number of decode threads put and get. Lives in scratch files (MappedFile), so
/// private memory does not grow, and is gone when the process ends. Losing an entry costs time,
/// never pixels: an index is used only with the bytes it was made from (decode/jpeg/SEEK-INDEX.md).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/mapped_array.h"
#include "headrace/base/mutex.h"
#include "headrace/base/result.h"

namespace headrace {

class SeekMemory {
 public:
  /// For samples 0 … samples - 1 and at most `limit` bytes of indexes. An error if there is no
  /// room for the scratch file: the job then goes on without.
  static Result<std::unique_ptr<SeekMemory>> make(std::uint64_t samples, std::uint64_t limit);

  /// Where an index came from.
  enum class Origin { recorded, kept };

  /// Empty if none was put; else valid as long as this object. REQUIRES: sample < samples
  ByteSpan get(std::uint64_t sample) const;
  /// The first put of a sample counts. What does not fit the limit is left out.
  void put(std::uint64_t sample, ByteSpan index, Origin origin = Origin::recorded);
  /// There is one, and this job made it.
  bool is_recorded(std::uint64_t sample) const;

 private:
  SeekMemory(MappedFile slots, std::uint64_t limit);

  /// Of one sample: where its bytes are, 0 = nowhere. File-backed memory is zero at first.
  std::atomic_ref<std::uint64_t> slot(std::uint64_t sample) const;

  const std::uint64_t limit_;
  MappedFile slots_;
  Mutex mutex_;
  std::uint64_t used_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool full_ HEADRACE_GUARDED_BY(mutex_) = false;
  /// Reserved to its most before the first put, so that a reader needs no lock: a block never
  /// moves, and a slot that names one is published after it.
  std::vector<MappedFile> blocks_;
};

}  // namespace headrace
