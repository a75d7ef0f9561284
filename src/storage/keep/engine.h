// SPDX-License-Identifier: Apache-2.0
/// \file The engine of the node cache, as its two source files share it: keep_engine.cc has the
/// reads, keep_writer.cc what goes to the disk and who watches it.
///
/// Thread-safe, as a Store is. keep_engine.h tells the design.
#pragma once

#include <atomic>
#include <deque>
#include <future>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/cache.h"
#include "headrace/storage/keep/disk_pool.h"
#include "headrace/storage/keep/health.h"
#include "headrace/storage/keep/keep_engine.h"
#include "headrace/storage/ranges.h"

namespace headrace::keep {

struct HashRange {
  std::size_t operator()(const RangeId& id) const { return id.object.low ^ id.offset; }
};

struct Flight;
using FlightPtr = std::shared_ptr<Flight>;

/// Asks the flight to end once every reader that joined it has asked for its own end.
struct Leave {
  FlightPtr flight;
  void operator()() const;
};

struct Waiter {
  ReadDone done;
  std::stop_token stop;
  std::unique_ptr<std::stop_callback<Leave>> on_stop;
};

/// A read at the origin. All but `stop` and `wanted` is guarded by the engine's mutex once it is
/// known to others.
struct Flight {
  RangeId id;
  std::uint64_t place = 0;
  ReadRequest request;
  std::vector<Waiter> waiters;
  std::optional<ReadResult> answer;  ///< arrived, and not on disk yet
  std::stop_source stop;
  std::atomic<int> wanted = 0;
};

/// What the writer thread does next.
struct Task {
  Item item;
  FlightPtr flight;  ///< null: derived bytes, which `written` waits for
  std::shared_ptr<std::promise<void>> written;
};

// Derived bytes are kept as one object: their length, their hash, and the bytes.
struct SideHeader {
  std::uint64_t length = 0;
  Hash128 hash;
};

class Engine final : public KeepStore {
 public:
  Engine(std::unique_ptr<Disk> disk, Store& base, const KeepOptions& options,
         const Context& context)
      : base_(base),
        store_(base.describe()),
        options_(options),
        context_(context),
        opened_at_(context.clock->now()),
        health_(context),
        cache_(std::move(disk), {.store = store_, .limit = options.limit_bytes}, *context.clock),
        pool_(std::make_unique<DiskPool>(cache_, *context.clock, options.read_threads,
                                         [this](DiskReadPtr read, Result<Bytes> bytes) {
                                           answer(std::move(read), std::move(bytes));
                                         })) {
    writer_ = std::jthread([this] { write(); });
    watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
  }

  ~Engine() override {
    watcher_ = {};
    std::vector<FlightPtr> open;
    std::deque<std::pair<ReadRequest, ReadDone>> early;
    {
      MutexLock lock(mutex_);
      while (ending_early_) lock.wait(idle_);
      closing_ = true;
      for (const auto& [id, flight] : flights_) open.push_back(flight);
      early = std::exchange(early_, {});
    }
    for (auto& [request, done] : early)
      done(Error(Code::cancelled, "stopped").at(object_place(store_, request.key)));
    for (const FlightPtr& flight : open) flight->stop.request_stop();
    launch_parked();
    pool_.reset();
    {
      MutexLock lock(mutex_);
      while (at_origin_ != 0) lock.wait(idle_);
      written_out_ = true;
      writable_.notify_all();
    }
    writer_ = {};
  }

  // --- the origin's own business ---------------------------------------------------------------
  std::string describe() const override { return store_; }
  Result<ObjectInfo> head(const std::string& key, const std::stop_token& stop) override {
    return base_.head(key, stop);
  }
  Result<void> list(const ListRequest& request, const std::stop_token& stop,
                    const std::function<Result<bool>(ListPage&&)>& sink) override {
    return base_.list(request, stop, sink);
  }
  Result<std::unique_ptr<ObjectWriter>> create(const std::string& key,
                                               const std::stop_token& stop) override {
    return base_.create(key, stop);
  }
  Result<void> remove(const std::string& key, const std::stop_token& stop) override {
    return base_.remove(key, stop);
  }
  void hint(std::span<const Wanted> wanted) override;

  void read(ReadRequest request, ReadDone done) override;

  Result<std::optional<Bytes>> get(const SideKey& key) override;
  Result<void> put(const SideKey& key, ByteSpan bytes) override;

  KeepStats stats() const override {
    return {.limit_bytes = cache_.limit(),
            .used_bytes = cache_.used(),
            .entries = cache_.entries(),
            .stored_bytes = cache_.stored(),
            .damaged = cache_.damaged(),
            .not_kept_bytes = not_kept_.load()};
  }
  void flush() override {
    wait_for_the_start();
    MutexLock lock(mutex_);
    while (!to_write_.empty() || writing_) lock.wait(idle_);
  }

 private:
  bool usable() const { return is_loaded_.load(std::memory_order_relaxed) && health_.usable(); }

  // --- at the origin ---------------------------------------------------------------------------
  void pass(ReadRequest request, ReadDone done);
  void fly(const RangeId& id, std::uint64_t place, ReadRequest request, ReadDone done);
  void watch_stop(const FlightPtr& flight, const std::stop_token& stop);
  void depart(const FlightPtr& flight);
  void launch(const FlightPtr& flight);
  void launch_parked();
  void land(const FlightPtr& flight, const Result<ReadResult>& result);
  void forget(const FlightPtr& flight) HEADRACE_REQUIRES(mutex_) {
    const auto found = flights_.find(flight->id);
    if (found != flights_.end() && found->second == flight) flights_.erase(found);
  }
  bool is_behind() const HEADRACE_REQUIRES(mutex_) {
    return unwritten_ >= options_.write_queue_bytes && !closing_ && usable();
  }

  // --- on the disk -----------------------------------------------------------------------------
  void answer(DiskReadPtr read, Result<Bytes> bytes);
  void read_failed(const Error& error);
  void count_hit(std::uint64_t bytes) {
    context_.metrics->add(Metric::cache_hits, 1);
    context_.metrics->add(Metric::bytes_cache, bytes);
  }
  std::optional<Bytes> read_side(const Hash128& id, std::uint64_t offset, std::uint64_t length);
  void drop_side(const Hash128& id);

  void write();
  void learn();
  void write_tasks(std::vector<Task>& tasks);
  void keep_items(std::span<const Item> items);
  void finish(const Task& task) HEADRACE_REQUIRES(mutex_);
  void look_around();
  void end_early();

  bool is_late() const { return context_.clock->now() - opened_at_ > options_.patience; }
  void wait_for_the_start();
  void watch(const std::stop_token& stop);
  void rescue();

  Store& base_;
  const std::string store_;
  const KeepOptions options_;
  const Context context_;
  const Nanos opened_at_;
  Health health_;
  Cache cache_;
  std::atomic<bool> is_loaded_ = false;
  std::atomic<bool> is_early_ = true;  ///< what is kept is not known yet: reads wait for that
  std::atomic<std::uint64_t> not_kept_ = 0;
  std::atomic<int> read_errors_ = 0;

  Mutex mutex_;
  Condition writable_;
  Condition idle_;
  std::unordered_map<RangeId, FlightPtr, HashRange> flights_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<FlightPtr> parked_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<std::pair<ReadRequest, ReadDone>> early_ HEADRACE_GUARDED_BY(mutex_);
  bool ending_early_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::deque<Task> to_write_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t unwritten_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< bytes delivered, not on disk
  std::uint64_t at_origin_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< reads that the origin answers
  std::uint64_t looks_ HEADRACE_GUARDED_BY(mutex_) = 0;      ///< others' logs were followed
  bool look_ HEADRACE_GUARDED_BY(mutex_) = false;            ///< they are to be
  bool writing_ HEADRACE_GUARDED_BY(mutex_) = false;
  Nanos writing_since_ HEADRACE_GUARDED_BY(mutex_){0};
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool written_out_ HEADRACE_GUARDED_BY(mutex_) = false;  ///< nothing will be added to to_write_

  std::unique_ptr<DiskPool> pool_;
  std::jthread writer_;
  std::jthread watcher_;
};

}  // namespace headrace::keep
