// SPDX-License-Identifier: Apache-2.0
/// \file How far folders are listed and containers without an index read through, for whoever looks
/// on meanwhile.
///
/// Thread-safe: counters.
#pragma once

#include <atomic>
#include <cstdint>

namespace headrace {

struct ScanProgress {
  std::atomic<std::uint64_t> bytes{0};   ///< read so far; a stretch that is read twice counts twice
  std::atomic<std::uint64_t> total{0};   ///< to read, as far as it is known by now
  std::atomic<std::uint64_t> listed{0};  ///< objects so far; 0 again once all are known
};

/// Where what was read is counted; null if nobody looks on.
inline std::atomic<std::uint64_t>* read_bytes(ScanProgress* scanning) {
  return scanning != nullptr ? &scanning->bytes : nullptr;
}

}  // namespace headrace
