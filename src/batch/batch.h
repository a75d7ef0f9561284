// SPDX-License-Identifier: Apache-2.0
/// \file Samples side by side in one block of memory, and the pool that recycles the blocks.
///
/// A Batch is owned by one thread at a time; `BatchPool` is thread-safe. Shapes: pixels are
/// [count, C, H, W] or [count, H, W, C] as the transform's layout says; labels are
/// [count, label_width] float32.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "headrace/base/digest.h"
#include "headrace/base/mutex.h"
#include "headrace/decode/transform.h"

namespace headrace {

/// One sample's place in a batch.
struct Slot {
  std::uint64_t position = 0;   ///< global
  std::uint64_t sample_id = 0;  ///< of what was delivered: the substitute's, if it is one
  bool padding = false;
  bool substitute = false;
};

/// A batch as the consumer gets it; the memory goes back to its pool when it is destroyed.
class Batch {
 public:
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
  virtual ~Batch() = default;

  std::uint64_t epoch = 0;
  std::uint64_t step = 0;
  std::vector<Slot> slots;    ///< count = slots.size(); may be short, or 0
  std::vector<float> labels;  ///< count × label_width; short lists are filled with -1
  std::size_t label_width = 1;

  std::size_t count() const { return slots.size(); }
  /// count × transform.sample_bytes() bytes, 64-byte aligned.
  virtual std::span<std::byte> pixels() = 0;

 protected:
  Batch() = default;
};

}  // namespace headrace
