// SPDX-License-Identifier: Apache-2.0
/// \file Memory that a read is filled into, then frozen to shared Bytes: a large block that comes
/// free is used again.
///
/// New memory is dear: the system zeroes each page and takes it back page by page, which was half
/// of the processor time of a 1 GB read through the mount, and more than all copies together. So
/// up to `kIdleMost` of large blocks stay for the next reads of the same size; the rest goes back
/// to the system at once. Small ones are malloc's business.
///
/// A Block is not thread-safe; the idle blocks are, and belong to the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace {

class Block {
 public:
  static constexpr std::size_t kLarge = std::size_t{1} << 20U;
  static constexpr std::size_t kIdleMost = std::size_t{32} << 20U;

  Block() = default;
  /// Uninitialised. Throws std::bad_alloc.
  explicit Block(std::size_t size);
  /// The same; `exhausted` if there is no memory.
  static Result<Block> make(std::uint64_t size);

  std::byte* data() { return block_.get(); }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() { return {block_.get(), size_}; }

  /// REQUIRES: length <= size(). The block is empty afterwards.
  Bytes freeze(std::size_t length) && {
    const ByteSpan view{block_.get(), length};
    size_ = 0;
    return {std::move(block_), view};
  }

  /// Bytes of this process that wait to be used again.
  static std::size_t idle();

 private:
  std::shared_ptr<std::byte[]> block_;
  std::size_t size_ = 0;
};

}  // namespace headrace
