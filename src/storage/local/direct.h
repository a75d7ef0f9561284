// SPDX-License-Identifier: Apache-2.0
/// \file Reads of files, past the page cache where that pays.
///
/// Thread-safe. Once as many bytes were read as the machine has memory, the page cache can hold no
/// more of the set: what it holds is still read from it, the rest by O_DIRECT, which takes a third
/// to a half of the processor time (docs/PERFORMANCE.md) and leaves the cache to what it holds.
/// Short reads stay with the cache, and file systems without O_DIRECT.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"
#include "headrace/storage/store.h"

namespace headrace::local {

/// All of it, as far as the kernel tells: of files that belong to others it tells nothing, and
/// then they count as cached.
/// REQUIRES: a range of at least a byte
bool in_page_cache(int fd, const ByteRange& range);

/// All pages that hold a byte of the range: the first and the last too, which the kernel would
/// leave if it were told of the range alone. What some process maps stays, and what the kernel
/// keeps together with more than the range.
/// REQUIRES: a range of at least a byte
void drop_from_page_cache(int fd, const ByteRange& range);

class Reads {
 public:
  /// Of that memory, in bytes.
  static std::uint64_t memory_of_machine();

  explicit Reads(std::uint64_t direct_after) : left_(direct_after) {}

  /// The bytes of the range; fewer only where the file ends. `fresh`: not from the page cache,
  /// however few they are.
  Result<Bytes> read(int fd, const ByteRange& range, bool fresh, const std::stop_token& stop);

  /// False once a file system has refused O_DIRECT.
  bool possible() const { return possible_.load(std::memory_order_relaxed); }

 private:
  bool pays(std::uint64_t length);
  /// Nothing: it cannot be read so.
  Result<std::optional<Bytes>> past_cache(int fd, const ByteRange& range,
                                          const std::stop_token& stop);

  std::atomic<std::uint64_t> left_;  // to be read before
  std::atomic<bool> possible_{true};
};

}  // namespace headrace::local
