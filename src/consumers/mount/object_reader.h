// SPDX-License-Identifier: Apache-2.0
/// \file The bytes of a mount's files: fetched by ranges, ahead of need where that pays, in one
/// budget for all of them.
///
/// Thread-safe. A range that is on its way or there is a *part*; a read waits for those it needs
/// and takes slices of them, nothing is copied. A part goes when it was read to its end (the
/// kernel has its bytes now), when the budget wants its room, or when nobody read its file for a
/// while. What a read needs is always admitted; what is fetched ahead only where there is room,
/// and a file gets no more than its share: so hundreds of open files stay within the budget, plus
/// one request for each thread that serves the kernel.
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <unordered_map>
#include <vector>

#include "headrace/base/byte_budget.h"
#include "headrace/base/context.h"
#include "headrace/base/mutex.h"
#include "headrace/consumers/mount/neighbours.h"
#include "headrace/consumers/mount/read_ahead.h"
#include "headrace/consumers/mount/tree.h"
#include "headrace/storage/store.h"

namespace headrace::mount {

struct ReaderOptions {
  std::uint64_t budget_bytes = std::uint64_t{256} << 20U;
  ReadAheadOptions ahead;
};

struct ReaderCounts {
  std::atomic<std::uint64_t> reads{0};  ///< that the kernel asked for
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> hits{0};           ///< reads whose bytes were there already
  std::atomic<std::uint64_t> fetched_ahead{0};  ///< parts that nobody had asked for yet
  std::atomic<std::uint64_t> dropped{0};        ///< parts that went before they were read
};

class ObjectReader {
 public:
  /// Store and tree must outlive it.
  ObjectReader(Store& store, Tree& tree, Context context, const ReaderOptions& options);
  ObjectReader(const ObjectReader&) = delete;
  ObjectReader& operator=(const ObjectReader&) = delete;
  /// Stops what is in flight and waits for its end.
  ~ObjectReader();

  /// The bytes from `offset`, at most `length`, as slices in order; fewer only at the file's end.
  Result<std::vector<Bytes>> read(NodeId id, std::uint64_t offset, std::uint64_t length,
                                  const std::stop_token& stop);

  const ReaderCounts& counts() const { return counts_; }
  const ByteBudget& budget() const { return budget_; }

 private:
  struct Part;
  struct File;
  struct Start;
  using PartPtr = std::shared_ptr<Part>;

  Result<File*> file_of(NodeId id) HEADRACE_REQUIRES(mutex_);
  std::vector<PartPtr> plan(File& file, std::uint64_t offset, std::uint64_t length,
                            std::vector<Start>& starts) HEADRACE_REQUIRES(mutex_);
  PartPtr part_at(File& file, std::uint64_t begin, std::uint64_t end, bool wanted,
                  std::vector<Start>& starts) HEADRACE_REQUIRES(mutex_);
  void plan_neighbours(File& file, NodeId folder, std::uint64_t place, std::vector<Start>& starts)
      HEADRACE_REQUIRES(mutex_);
  std::optional<ByteBudget::Grant> reserve(std::uint64_t bytes, bool wanted, const File& for_whom)
      HEADRACE_REQUIRES(mutex_);
  bool drop_one(const File& for_whom, bool stale_only) HEADRACE_REQUIRES(mutex_);
  void drop_file(std::unordered_map<NodeId, File>::iterator at) HEADRACE_REQUIRES(mutex_);
  void erase(File& file, const PartPtr& part) HEADRACE_REQUIRES(mutex_);
  void start(Start&& what);
  void finish(const PartPtr& part, Result<ReadResult> result);

  Store& store_;
  Tree& tree_;
  const Context context_;
  const ReaderOptions options_;
  ReaderCounts counts_;
  ByteBudget budget_;
  Mutex mutex_;
  Condition idle_;
  std::unordered_map<NodeId, File> files_ HEADRACE_GUARDED_BY(mutex_);
  std::list<NodeId> used_ HEADRACE_GUARDED_BY(mutex_);  // files, the latest first
  std::size_t with_parts_ HEADRACE_GUARDED_BY(mutex_) = 0;
  std::unordered_map<NodeId, Neighbours> folders_ HEADRACE_GUARDED_BY(mutex_);
  std::size_t in_flight_ HEADRACE_GUARDED_BY(mutex_) = 0;
};

}  // namespace headrace::mount
