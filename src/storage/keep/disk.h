// SPDX-License-Identifier: Apache-2.0
/// \file All that the cache asks of its disk: one flat directory, positioned reads and writes, and
/// locks that vanish with their holder. A simulated disk stands behind the same calls.
///
/// Thread-safe. Nothing here is ever synced: the cache believes no byte that it has not verified.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "headrace/base/bytes.h"
#include "headrace/base/result.h"

namespace headrace::keep {

/// One byte of a file that can be locked; nothing is stored there, it is a name. Any other number
/// up to kLastLockByte is one too.
enum class LockByte : std::uint64_t { owner = 0, use = 1 };
inline constexpr std::uint64_t kLastLockByte = (std::uint64_t{1} << 62U) - 1;
enum class LockKind { shared, exclusive };

/// Closing gives its locks up. They belong to this handle: another handle of the same process
/// conflicts with them as another process would.
class DiskFile {
 public:
  DiskFile() = default;
  DiskFile(const DiskFile&) = delete;
  DiskFile& operator=(const DiskFile&) = delete;
  virtual ~DiskFile() = default;

  /// Bytes read: less than asked for only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<std::byte> into) = 0;
  /// The same, but only what is in memory: bytes read, less if the rest would have to be waited
  /// for.
  virtual Result<std::size_t> read_at_hand(std::uint64_t offset, std::span<std::byte> into) = 0;
  virtual Result<void> write_at(std::uint64_t offset, ByteSpan bytes) = 0;
  /// False if another handle holds a lock that conflicts. Never waits.
  virtual Result<bool> try_lock(LockByte byte, LockKind kind) = 0;
  virtual Result<void> unlock(LockByte byte) = 0;
  /// True if another handle holds a lock of any kind.
  virtual Result<bool> is_locked(LockByte byte) = 0;
  /// False once the file was removed.
  virtual Result<bool> is_linked() = 0;
};

struct DiskEntry {
  std::string name;
  std::uint64_t bytes = 0;       ///< that it takes on the disk
  std::int64_t modified_ns = 0;  ///< only an order of age: clocks jump
};

struct DiskSpace {
  std::uint64_t total = 0;
  std::uint64_t available = 0;  ///< to this user
};

/// create: new, or `invalid` if it exists. share: made if it is missing.
enum class OpenMode { read, write, create, share };

class Disk {
 public:
  Disk() = default;
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;
  virtual ~Disk() = default;

  virtual std::string describe() const = 0;
  virtual Result<std::vector<DiskEntry>> list() = 0;
  virtual Result<std::unique_ptr<DiskFile>> open(const std::string& name, OpenMode mode) = 0;
  virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
  virtual Result<void> remove(const std::string& name) = 0;
  /// Marks the file as used just now.
  virtual Result<void> touch(const std::string& name) = 0;
  virtual Result<DiskSpace> space() = 0;
};

}  // namespace headrace::keep
