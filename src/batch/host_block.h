// SPDX-License-Identifier: Apache-2.0
/// \file Memory of one batch: aligned, and pinned if asked for, so that an accelerator's copies of
/// it need no stop on the way and run beside the computation.
///
/// A HostBlock is owned by one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "headrace/base/result.h"

namespace headrace {

/// `yes`: where the process has CUDA loaded (it imported PyTorch for GPUs, say) and a context,
/// registered with its driver; else locked in memory.
enum class Pinning { no, yes };

/// Registers memory with a driver; 0 is success, as CUDA has it.
struct PinDriver {
  int (*pin)(void* memory, std::size_t bytes) = nullptr;
  int (*unpin)(void* memory) = nullptr;
};
/// CUDA's, if libcuda is in the process already; else both null. Nothing is ever loaded for it.
PinDriver cuda_pin_driver();

enum class Pinned : std::uint8_t { no, locked, registered };

/// How a block goes.
struct FreeHostBlock {
  std::size_t bytes = 0;
  Pinned pinned = Pinned::no;
  PinDriver driver{};
  void operator()(std::byte* memory) const;
};

class HostBlock {
 public:
  HostBlock() = default;
  /// 64-byte aligned; pinned: whole pages. `exhausted`: no memory, or no right to lock so much.
  /// REQUIRES: bytes > 0
  static Result<HostBlock> make(std::size_t bytes, Pinning pin,
                                const PinDriver& driver = cuda_pin_driver());

  std::byte* data() const { return memory_.get(); }
  explicit operator bool() const { return memory_ != nullptr; }
  Pinned pinned() const { return memory_.get_deleter().pinned; }

 private:
  std::unique_ptr<std::byte, FreeHostBlock> memory_;
};

}  // namespace headrace
