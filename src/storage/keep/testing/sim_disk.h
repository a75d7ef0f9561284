// SPDX-License-Identifier: Apache-2.0
/// \file A disk in memory that dies on order: at any step of any process, or by power loss, after
/// which every write that was not synced may be there, cut short, or gone, whatever their order.
///
/// Thread-safe. Deterministic: what a power cut leaves is a function of its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/disk.h"

namespace headrace::keep::testing {

struct SimOp {
  int process = 0;
  std::uint64_t step = 0;  ///< operations of all processes so far
  std::string what;        ///< "read", "write", "create", "rename", "remove", "list", …
  std::string file;
  std::uint64_t bytes = 0;
};

class SimWorld : public std::enable_shared_from_this<SimWorld> {
 public:
  static std::shared_ptr<SimWorld> make() { return std::shared_ptr<SimWorld>(new SimWorld); }

  /// The disk as a process sees it. Each number is a process.
  std::unique_ptr<Disk> mount(int process);

  /// Called before each operation, without a lock: may fail it, or block.
  void set_hook(std::function<Result<void>(const SimOp&)> hook);
  /// Writes go through until the files hold this many bytes; the one that passes it is cut there.
  void set_space(std::uint64_t bytes);

  /// The process is gone, its locks too; what it still calls fails and does nothing.
  void kill(int process);
  /// Everything that was done so far survives a power cut.
  void settle();
  /// All processes are gone. Names change in order, so some of the last are lost; of the data
  /// written since `settle` any part may be lost.
  void cut_power(std::uint64_t seed);

  std::uint64_t steps() const;
  /// Of all files that have a name.
  std::uint64_t bytes() const;
  std::vector<std::string> files() const;
  /// Flips one bit of a file.
  void flip(const std::string& file, std::uint64_t bit);

 private:
  friend class SimDirectory;
  friend class SimFile;

  struct Write {
    std::uint64_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct Node {
    std::vector<std::byte> now;
    std::vector<std::byte> durable;
    std::vector<Write> pending;
    struct Lock {
      std::uint64_t handle = 0;
      int process = 0;
      LockByte byte = LockByte::owner;
      LockKind kind = LockKind::shared;
    };
    std::vector<Lock> locks;
    std::int64_t modified_ns = 0;
  };
  using NodePtr = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodePtr>;

  SimWorld() = default;
  Result<void> begin(int process, const std::string& what, const std::string& file,
                     std::uint64_t bytes);
  bool is_dead(int process) const HEADRACE_REQUIRES(mutex_);
  void name_changed(std::function<void(Names&)> change) HEADRACE_REQUIRES(mutex_);
  std::uint64_t total() const HEADRACE_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::function<Result<void>(const SimOp&)> hook_ HEADRACE_GUARDED_BY(mutex_);
  Names names_ HEADRACE_GUARDED_BY(mutex_);
  Names durable_names_ HEADRACE_GUARDED_BY(mutex_);
  std::vector<std::function<void(Names&)>> pending_names_ HEADRACE_GUARDED_BY(mutex_);
  std::map<int, bool> dead_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t space_ HEADRACE_GUARDED_BY(mutex_) = std::uint64_t{1} << 40U;
  std::uint64_t steps_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::uint64_t handles_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace::keep::testing
