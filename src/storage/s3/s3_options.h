// SPDX-License-Identifier: Apache-2.0
/// \file How an S3 store behaves: values, with when to change them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "headrace/storage/s3/retry.h"
#include "headrace/storage/s3/settings.h"

namespace headrace {

struct S3Options {
  /// Absent: from the environment and the shared files.
  std::optional<s3::Settings> settings;
  /// Threads that carry requests. 0: one for each four cores, 8 at most; one carries about 10 Gb/s
  /// without TLS.
  unsigned loops = 0;
  /// Requests on the wire at once, over all loops, at most. How many there are is found by trying
  /// (governor.h), from `begin_connections` on. More where the first byte is slow: to keep n
  /// objects a second coming that take t seconds each, n·t.
  std::size_t max_connections = 256;
  std::size_t begin_connections = 0;  ///< 0: 64; by TLS, where each costs a handshake, 32
  /// A read that waits longer for its first byte than 99 of 100 is sent a second time; at most 1 %
  /// extra requests (hedge.h). Off where each request costs more than it gains.
  bool hedge = true;
  s3::RetryOptions retry;
  std::uint64_t retry_seed = 0;  ///< 0: of this process's own
  /// No byte for so long: the attempt is given up and made again.
  std::chrono::seconds stall_timeout{20};
  Nanos connect_timeout = std::chrono::seconds(5);
  /// Reads above this are fetched as ranges of `part_bytes`, side by side, into one buffer: one
  /// connection to S3 carries 40 to 100 MB/s.
  std::uint64_t split_above = std::uint64_t{16} << 20U;
  std::uint64_t part_bytes = std::uint64_t{8} << 20U;
};

}  // namespace headrace
