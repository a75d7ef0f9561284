// SPDX-License-Identifier: Apache-2.0
/// \file Memory for reads: a large block that comes free is used again.
///
/// New memory is dear: the system zeroes each page and takes it back page by page, which was half
/// of the processor time of a 1 GB read through the mount, and more than all copies together. So
/// up to `kIdleMost` of large blocks stay for the next reads of the same size; the rest goes back
/// to the system at once. Small ones are malloc's business.
///
/// Thread-safe; the idle blocks belong to the process. A Buffer is freed as any other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace {

inline constexpr std::size_t kLargeBlock = std::size_t{1} << 20U;
inline constexpr std::size_t kIdleMost = std::size_t{32} << 20U;

/// Uninitialised. Throws std::bad_alloc.
Buffer make_block(std::size_t size);

/// The same; `exhausted` if there is no memory.
Result<Buffer> allocate(std::uint64_t size);

/// Bytes of this process that wait to be used again.
std::size_t idle_block_bytes();

}  // namespace headrace
