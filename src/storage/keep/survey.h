// SPDX-License-Identifier: Apache-2.0
/// \file What a cache directory holds, whether it is sound, and emptying it. For the commands; jobs
/// may use the directory meanwhile.
///
/// Functions without state; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "headrace/base/result.h"

namespace headrace::keep {

struct SegmentReport {
  std::string name;   ///< of its files, without ending
  std::string store;  ///< whose data; empty: not readable
  std::uint64_t disk_bytes = 0;
  std::uint64_t capacity = 0;
  std::uint64_t objects = 0;  ///< first pieces
  std::uint64_t pieces = 0;   ///< of objects and of derived bytes
  std::uint64_t data_bytes = 0;
  bool live = false;         ///< someone writes to it
  bool wanted = false;       ///< a live job reads from it
  std::int64_t used_ns = 0;  ///< when a job last began to want it; since 1970
};

struct Survey {
  std::string dir;
  std::vector<SegmentReport> segments;  ///< oldest first
  std::uint64_t disk_bytes = 0;         ///< of all files
  std::uint64_t left_behind_bytes = 0;  ///< of writers that died before their segment was there
  std::uint64_t free_bytes = 0;         ///< on the volume
};

/// `not_found` if there is no cache.
Result<Survey> survey(const std::string& dir, const std::stop_token& stop);

struct KeptPiece {
  std::string store;
  std::string key;           ///< empty: a later piece of the object before
  std::uint64_t offset = 0;  ///< in the object
  std::uint64_t length = 0;
  bool derived = false;  ///< an index or the like; `key` says which
};
/// Hands over every piece, segment by segment, in the order they were written.
Result<void> list_pieces(const std::string& dir, const std::stop_token& stop,
                         const std::function<Result<void>(const KeptPiece&)>& sink);

struct Damage {
  std::string segment;
  std::string key;
  std::uint64_t data_offset = 0;
  std::string why;
};
struct Verification {
  std::uint64_t pieces = 0;
  std::uint64_t bytes = 0;
  std::vector<Damage> damaged;
  std::vector<std::string> purged;  ///< segments with damage that were removed
};
/// Reads everything and compares it with its hash. `purge` removes segments with damage that no
/// live job uses; without, jobs find the damage themselves when they read it.
Result<Verification> verify(const std::string& dir, bool purge, const std::stop_token& stop,
                            const std::function<void(const Verification&)>& progress);

struct Purge {
  std::uint64_t segments = 0;
  std::uint64_t bytes = 0;
  std::uint64_t in_use = 0;  ///< segments left, since a live job uses them
};
/// Removes what is kept: of `store`, or everything if that is empty.
Result<Purge> purge(const std::string& dir, const std::string& store, const std::stop_token& stop);

}  // namespace headrace::keep
