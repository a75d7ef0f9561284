// SPDX-License-Identifier: Apache-2.0
/// \file What a volume and its quotas leave to this user. Thread-safe.
#pragma once

#include <sys/statvfs.h>

#include <algorithm>
#include <cstdint>

namespace headrace::local {

/// Bytes that this user and the directory's group may still write on the volume of the directory
/// `fd`, by their quotas; the largest number if there are none, or the system does not tell.
/// Quotas of projects are in what statvfs calls available.
std::uint64_t quota_left(int fd);

/// Bytes that this user may still write on the volume of the directory `fd`, which `space` is of.
inline std::uint64_t writable_bytes(const struct statvfs& space, int fd) {
  return std::min<std::uint64_t>(space.f_bavail * space.f_frsize, quota_left(fd));
}

/// As above, for one quota: its hard limit in blocks of 1 KiB, 0 = none, and what is taken.
constexpr std::uint64_t quota_left(std::uint64_t hard_blocks, std::uint64_t used_bytes) {
  constexpr std::uint64_t kBlock = 1024;
  constexpr std::uint64_t kNone = ~std::uint64_t{0};
  if (hard_blocks == 0 || hard_blocks > kNone / kBlock) return kNone;
  const std::uint64_t limit = hard_blocks * kBlock;
  return limit - (used_bytes < limit ? used_bytes : limit);
}

}  // namespace headrace::local
