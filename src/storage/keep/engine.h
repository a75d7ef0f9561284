// SPDX-License-Identifier: Apache-2.0
/// \file The engine of the node cache, as its source files share it: keep_engine.cc has the reads
/// and how it ends, keep_parts.cc those of parts, keep_claims.cc what other processes fetch,
/// keep_writer.cc what goes to the disk and who watches it, keep_side.cc derived bytes.
///
/// Thread-safe, as a Store is. keep_engine.h tells the design.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/cache.h"
#include "headrace/storage/keep/claims.h"
#include "headrace/storage/keep/crew.h"
#include "headrace/storage/keep/disk_pool.h"
#include "headrace/storage/keep/health.h"
#include "headrace/storage/keep/keep_engine.h"
#include "headrace/storage/keep/patience.h"
#include "headrace/storage/keep/watched_disk.h"
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

/// A read at the origin, or one that is about to go there. All but `stop`, `wanted` and `claimed`
/// is guarded by the engine's mutex once it is known to others.
struct Flight {
  RangeId id;
  std::uint64_t place = 0;
  ReadRequest request;
  std::vector<Waiter> waiters;
  std::optional<ReadResult> answer;  ///< arrived, and not on disk yet
  std::stop_source stop;
  std::atomic<int> wanted = 0;
  std::atomic<bool> claimed = false;   ///< other processes see that this one fetches it
  std::optional<Nanos> refused_since;  ///< another process had claimed it
  Nanos departed{0};
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

/// What stands behind a KeepStore, and outlives it if the disk hangs: then threads are left behind
/// in it.
class Engine : public std::enable_shared_from_this<Engine> {
 public:
  Engine(std::unique_ptr<Disk> disk, Store& base, const KeepOptions& options,
         const Context& context);
  void start();
  /// Every read is answered, and what was delivered is written, unless the disk hangs; `base` is
  /// not touched any more.
  void close();

  void hint(std::span<const Wanted> wanted);
  void read(ReadRequest request, ReadDone done);
  void read_parts(ReadRequest request, std::shared_ptr<const WantedParts> wanted, PartsDone done);
  Result<std::optional<Bytes>> get(const SideKey& key);
  Result<void> put(const SideKey& key, ByteSpan bytes);
  KeepStats stats() const;
  void flush();

 private:
  bool usable() const {
    return is_loaded_.load(std::memory_order_relaxed) && !stuck_.load(std::memory_order_relaxed) &&
           health_.usable();
  }
  bool stopped() const { return options_.stop.stop_requested(); }

  // A flight that is neither parked nor undecided is counted in `at_origin_`, whoever has it.
  // --- at the origin ---------------------------------------------------------------------------
  void pass(ReadRequest request, ReadDone done);
  void fly(const RangeId& id, ReadRequest request, ReadDone done);
  void watch_stop(const FlightPtr& flight, const std::stop_token& stop);
  void depart(const FlightPtr& flight);
  void launch(const FlightPtr& flight);
  void launch_parked();
  void give_up(const std::deque<FlightPtr>& flights);
  void land(const FlightPtr& flight, const Result<ReadResult>& result);
  void forget(const FlightPtr& flight) HEADRACE_REQUIRES(mutex_) {
    const auto found = flights_.find(flight->id);
    if (found != flights_.end() && found->second == flight) flights_.erase(found);
  }
  bool is_behind() const HEADRACE_REQUIRES(mutex_) {
    return unwritten_ >= options_.write_queue_bytes && !closing_ && usable();
  }

  // --- among processes -------------------------------------------------------------------------
  void claim(const FlightPtr& flight);
  void drop_claim(const FlightPtr& flight);
  void mind_claims();
  void decide(std::span<const FlightPtr> flights);
  bool take_undecided(const FlightPtr& flight);
  void launch_undecided();
  void serve(const FlightPtr& flight, const Parts& parts);

  // --- on the disk -----------------------------------------------------------------------------
  void hit(Bytes bytes, Pin pin, const ReadDone& done);
  void answer(DiskReadPtr read, Result<Bytes> bytes);
  void answer_parts(Result<Bytes> range, std::uint64_t read_bytes, const PartsDone& done);
  void read_failed(const Error& error);
  void count_hit(std::uint64_t bytes) {
    context_.metrics->add(Metric::cache_hits, 1);
    context_.metrics->add(Metric::bytes_cache, bytes);
  }
  std::optional<Bytes> read_side(const Hash128& id, std::uint64_t offset, std::uint64_t length);
  void drop_side(const Hash128& id);
  void look_around();
  void wait_for_the_start();

  void write();
  void learn();
  void write_tasks(std::vector<Task>& tasks);
  void keep_items(std::span<const Item> items);
  void finish(const Task& task) HEADRACE_REQUIRES(mutex_);
  void end_early();

  bool is_late() const { return context_.clock->now() - opened_at_ > options_.patience; }
  void watch(const std::stop_token& stop);
  void rescue();
  void cancel_stopped();

  Store& base_;
  const std::string store_;
  const KeepOptions options_;
  const Context context_;
  const Nanos opened_at_;
  const std::shared_ptr<DiskWatch> watch_;
  Health health_;
  Cache cache_;
  Claims claims_;
  DiskPool pool_;
  std::atomic<bool> is_loaded_ = false;
  std::atomic<bool> stuck_ = false;    ///< a call to the disk has not come back for long
  std::atomic<bool> full_ = false;     ///< what was delivered last was not kept
  std::atomic<bool> is_early_ = true;  ///< what is kept is not known yet: reads wait for that
  std::atomic<std::uint64_t> not_kept_ = 0;
  std::atomic<std::uint64_t> shared_ = 0;
  std::atomic<std::uint64_t> missed_ = 0;
  std::atomic<int> read_errors_ = 0;

  Mutex mutex_;
  Condition writable_;
  Condition idle_;
  Condition claimable_;
  std::unordered_map<RangeId, FlightPtr, HashRange> flights_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<FlightPtr> parked_ HEADRACE_GUARDED_BY(mutex_);
  /// Claimed by another process, or by this one, but perhaps kept since.
  std::deque<FlightPtr> undecided_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t claims_asked_ HEADRACE_GUARDED_BY(mutex_) = 0;
  Patience others_ HEADRACE_GUARDED_BY(mutex_);
  std::multiset<Nanos> departures_ HEADRACE_GUARDED_BY(mutex_);  ///< of flights under way
  std::deque<std::pair<ReadRequest, ReadDone>> early_ HEADRACE_GUARDED_BY(mutex_);
  bool ending_early_ HEADRACE_GUARDED_BY(mutex_) = false;
  std::deque<Task> to_write_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t unwritten_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< bytes delivered, not on disk
  std::uint64_t at_origin_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< reads that the origin answers
  std::uint64_t looks_ HEADRACE_GUARDED_BY(mutex_) = 0;      ///< others' logs were followed
  bool look_ HEADRACE_GUARDED_BY(mutex_) = false;            ///< they are to be
  Nanos looked_at_ HEADRACE_GUARDED_BY(mutex_){0};           ///< for derived bytes
  bool writing_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool written_out_ HEADRACE_GUARDED_BY(mutex_) = false;  ///< nothing will be added to to_write_

  Crew crew_;
  std::jthread watcher_;
};

}  // namespace headrace::keep
