// SPDX-License-Identifier: Apache-2.0
/// \file The memory behind batches: a bounded number of blocks, handed out and taken back.
///
/// Thread-safe; batches may outlive the pool. Nothing is allocated in steady state but the small
/// Batch object itself. Example:
///
///     BatchPool pool(32, transform, 1, 4);
///     HEADRACE_TRY(auto batch, pool.acquire(32, stop));   // waits while 4 batches are out
///     decoder.decode_into(bytes, transform, key, batch->sample(7));
#pragma once

#include <cstdint>
#include <memory>
#include <stop_token>

#include "headrace/base/result.h"
#include "headrace/batch/batch.h"
#include "headrace/batch/host_block.h"

namespace headrace {

/// A batch while it is being filled: slots may be written by several threads, each its own.
class OpenBatch : public Batch {
 public:
  /// The memory of slot `index`, of one sample's size; each slot by one thread.
  /// REQUIRES: index < the size it was acquired with
  virtual std::span<std::byte> sample(std::size_t index) = 0;
  /// Slot `index` stays empty; `compact` closes the gap. Thread-safe for different slots.
  virtual void drop(std::size_t index) = 0;
  /// Writes the labels of slot `index`; a short list is filled with -1.
  /// REQUIRES: values.size() <= label_width
  virtual void set_labels(std::size_t index, std::span<const float> values) = 0;
  /// Moves what was kept to the front, in order; call once, when all slots are settled. After it
  /// the batch is an ordinary one.
  virtual void compact() = 0;
};

class BatchPool {
 public:
  /// Batches of up to `batch` samples; at most `blocks` are out at a time. No pixels are kept
  /// (and none can be had) if `sample_bytes` is 0.
  BatchPool(std::size_t batch, std::size_t sample_bytes, std::size_t label_width,
            std::size_t blocks, Pinning pin = Pinning::no);
  BatchPool(const BatchPool&) = delete;
  BatchPool& operator=(const BatchPool&) = delete;
  ~BatchPool();

  ///  * a batch      of `count` slots, labels -1, pixels as the last user left them
  ///  * an error     `cancelled`: stop was asked for while all blocks were out;
  ///                 `exhausted`: no memory, or it cannot be pinned; `invalid`: count is larger
  ///                 than the pool's batch
  Result<std::unique_ptr<OpenBatch>> acquire(std::size_t count, const std::stop_token& stop);

  /// Blocks out now; for tests and progress.
  std::size_t in_use() const;

 private:
  struct Shared;
  class PooledBatch;
  std::shared_ptr<Shared> shared_;
};

}  // namespace headrace
