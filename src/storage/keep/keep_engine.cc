// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/keep_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
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
#include "headrace/storage/ranges.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWriteAtOnce = std::uint64_t{16} << 20U;
constexpr Nanos kTick = 250ms;  ///< of the watcher; also how often others' logs are followed
constexpr std::uint64_t kReadHere = std::uint64_t{1} << 20U;
constexpr int kReadErrors = 3;  ///< in a row: then it is the disk, not a place on it

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

void Leave::operator()() const {
  const FlightPtr kept = flight;  // the flight may end, and this with it, during the call
  if (kept->wanted.fetch_sub(1) == 1) kept->stop.request_stop();
}

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

// --- a read --------------------------------------------------------------------------------------

void Engine::read(ReadRequest request, ReadDone done) {
  if (!request.pin) return pass(std::move(request), std::move(done));
  const auto range = resolve(request.range, request.pin->size);
  if (!range || range->length == 0) return pass(std::move(request), std::move(done));
  if (request.stop.stop_requested())
    return done(Error(Code::cancelled, "stopped").at(object_place(store_, request.key)));
  request.range = *range;
  if (is_early_.load(std::memory_order_acquire)) {
    const MutexLock lock(mutex_);
    if (is_early_) {
      early_.emplace_back(std::move(request), std::move(done));
      return;
    }
  }
  const RangeId id{object_id(store_, request.key, *request.pin), range->offset, range->length};
  const std::uint64_t place = place_id(store_, request.key);
  std::optional<Parts> parts;
  if (request.fresh) {
    if (const auto stale = cache_.find(id.object, id.offset, id.length)) cache_.drop(*stale);
  } else if (usable()) {
    parts = cache_.want(id.object, place, id.offset, id.length);
  }
  if (!parts) {
    context_.metrics->add(Metric::cache_misses, 1);
    return fly(id, place, std::move(request), std::move(done));
  }
  Result<std::optional<Bytes>> at_hand = std::optional<Bytes>();
  // What is in memory costs less to copy than to hand to another thread.
  if (range->length <= kReadHere) at_hand = cache_.read_at_hand(*parts);
  auto read = std::make_unique<DiskRead>();
  read->id = id;
  read->place = place;
  read->request = std::move(request);
  read->done = std::move(done);
  if (at_hand && !*at_hand) {
    read->parts = *std::move(parts);
    return pool_->push(std::move(read));
  }
  answer(std::move(read), at_hand ? Result<Bytes>(**std::move(at_hand)) : at_hand.error());
}

void Engine::hint(std::span<const Wanted> wanted) {
  std::vector<Wanted> missing;
  for (const Wanted& want : wanted) {
    const auto range = resolve(want.range, want.pin.size);
    if (!range || range->length == 0) continue;
    if (!usable() ||
        !cache_.find(object_id(store_, want.key, want.pin), range->offset, range->length))
      missing.push_back(want);
  }
  base_.hint(missing);
}

/// Reads that the cache has no part in.
void Engine::pass(ReadRequest request, ReadDone done) {
  {
    const MutexLock lock(mutex_);
    ++at_origin_;
  }
  base_.read(std::move(request), [this, done = std::move(done)](Result<ReadResult> result) {
    done(std::move(result));
    const MutexLock lock(mutex_);
    --at_origin_;
    idle_.notify_all();
  });
}

/// Joins the flight that fetches these bytes, or starts one.
void Engine::fly(const RangeId& id, std::uint64_t place, ReadRequest request, ReadDone done) {
  FlightPtr flight;
  bool joined = false;
  std::optional<ReadResult> at_hand;
  const std::stop_token stop = request.stop;
  {
    const MutexLock lock(mutex_);
    FlightPtr& known = flights_[id];
    joined = known != nullptr && !request.fresh;
    if (joined) {
      at_hand = known->answer;
    } else {
      known = std::make_shared<Flight>();
      known->id = id;
      known->place = place;
      known->request = std::move(request);
      known->request.stop = known->stop.get_token();
    }
    flight = known;
    if (!at_hand) {
      flight->wanted.fetch_add(1);
      flight->waiters.push_back({std::exchange(done, nullptr), stop, nullptr});
    }
  }
  if (at_hand) {
    count_hit(at_hand->bytes.size());
    at_hand->from_cache = true;
    return done(*std::move(at_hand));
  }
  watch_stop(flight, stop);
  if (!joined) depart(flight);
}

/// The callback is made without the lock, since it may run at once.
void Engine::watch_stop(const FlightPtr& flight, const std::stop_token& stop) {
  if (!stop.stop_possible()) return;
  auto callback = std::make_unique<std::stop_callback<Leave>>(stop, Leave{flight});
  const MutexLock lock(mutex_);
  for (Waiter& waiter : flight->waiters) {
    if (waiter.on_stop || waiter.stop != stop) continue;
    waiter.on_stop = std::move(callback);
    return;
  }
  // The flight landed already; so did our read.
}

void Engine::depart(const FlightPtr& flight) {
  {
    const MutexLock lock(mutex_);
    if (closing_) flight->stop.request_stop();
    if (is_behind()) return parked_.push_back(flight);
    ++at_origin_;
  }
  launch(flight);
}

void Engine::launch(const FlightPtr& flight) {
  base_.read(flight->request,
             [this, flight](const Result<ReadResult>& result) { land(flight, result); });
}

void Engine::launch_parked() {
  while (true) {
    FlightPtr flight;
    {
      const MutexLock lock(mutex_);
      auto next = parked_.begin();
      if (is_behind()) {  // those that nobody waits for any more go in any case
        next = std::ranges::find_if(
            parked_, [](const FlightPtr& parked) { return parked->stop.stop_requested(); });
      }
      if (next == parked_.end()) return;
      flight = std::move(*next);
      parked_.erase(next);
      ++at_origin_;
    }
    launch(flight);
  }
}

void Engine::land(const FlightPtr& flight, const Result<ReadResult>& result) {
  std::vector<Waiter> waiters;
  const bool keep = result.ok() && usable();
  bool again = !result.ok() && result.error().code() == Code::cancelled;
  {
    const MutexLock lock(mutex_);
    waiters = std::exchange(flight->waiters, {});
    again = again && !closing_;
    if (keep) {
      flight->answer = *result;
      unwritten_ += result->bytes.size();
      to_write_.push_back({.item = {.object = flight->id.object,
                                    .place = flight->place,
                                    .offset = flight->id.offset,
                                    .name = flight->request.key,
                                    .bytes = result->bytes},
                           .flight = flight});
    } else {
      forget(flight);
      if (result.ok()) not_kept_ += result->bytes.size();
    }
  }
  for (Waiter& waiter : waiters) {
    waiter.on_stop.reset();
    if (again && !waiter.stop.stop_requested()) {
      // The others left; this one joined too late to keep the flight going.
      ReadRequest request = flight->request;
      request.stop = waiter.stop;
      fly(flight->id, flight->place, std::move(request), std::move(waiter.done));
    } else {
      waiter.done(result);
    }
  }
  const MutexLock lock(mutex_);
  if (keep) writable_.notify_one();  // after the delivery, which comes first
  --at_origin_;
  idle_.notify_all();
}

// --- from the disk -------------------------------------------------------------------------------

void Engine::answer(DiskReadPtr read, Result<Bytes> bytes) {
  if (bytes) {
    read_errors_.store(0, std::memory_order_relaxed);
    count_hit(bytes->size());
    return read->done(ReadResult{*std::move(bytes), *read->request.pin, true});
  }
  if (bytes.error().code() == Code::cancelled)
    return read->done(std::move(bytes).error().at(object_place(store_, read->request.key)));
  read_failed(bytes.error());
  context_.metrics->add(Metric::cache_misses, 1);
  fly(read->id, read->place, std::move(read->request), std::move(read->done));
}

void Engine::read_failed(const Error& error) {
  if (error.code() == Code::not_found) return;  // evicted meanwhile
  if (error.code() == Code::corrupt) {
    context_.notices->add("keep-damaged", error.to_string() + "; read again from the origin");
  } else if (read_errors_.fetch_add(1) + 1 >= kReadErrors) {
    health_.trouble(error);
  }
}

// --- derived bytes -------------------------------------------------------------------------------

std::optional<Bytes> Engine::read_side(const Hash128& id, std::uint64_t offset,
                                       std::uint64_t length) {
  const auto parts = cache_.find(id, offset, length);
  if (!parts) return std::nullopt;
  auto bytes = cache_.read(*parts);
  if (bytes) return *std::move(bytes);
  read_failed(bytes.error());
  return std::nullopt;
}

void Engine::wait_for_the_start() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  while (is_early_ && lock.wait_until(idle_, until)) {
  }
}

Result<std::optional<Bytes>> Engine::get(const SideKey& key) {
  const Hash128 id = side_id(key);
  wait_for_the_start();
  if (!usable()) return std::optional<Bytes>();
  auto start = read_side(id, 0, sizeof(SideHeader));
  if (!start) {
    look_around();  // another process may have made it
    start = read_side(id, 0, sizeof(SideHeader));
  }
  if (!start) return std::optional<Bytes>();
  SideHeader header;
  std::memcpy(&header, start->data(), sizeof header);
  if (header.length == 0) return std::optional<Bytes>(Bytes());
  auto bytes = read_side(id, sizeof header, header.length);
  if (!bytes || hash_bytes(bytes->span()) != header.hash) return std::optional<Bytes>();
  return bytes;
}

Result<void> Engine::put(const SideKey& key, ByteSpan bytes) {
  wait_for_the_start();
  if (!usable()) return {};
  const SideHeader header{.length = bytes.size(), .hash = hash_bytes(bytes)};
  Buffer whole(sizeof header + bytes.size());
  std::memcpy(whole.data(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(whole.data() + sizeof header, bytes.data(), bytes.size());
  const std::size_t size = whole.size();
  const Hash128 id = side_id(key);
  drop_side(id);  // what was put before, of whatever length
  auto written = std::make_shared<std::promise<void>>();
  auto done = written->get_future();
  {
    const MutexLock lock(mutex_);
    to_write_.push_back({.item = {.kind = EntryKind::side,
                                  .object = id,
                                  .name = key.kind + " " + key.object,
                                  .bytes = std::move(whole).freeze(size)},
                         .written = std::move(written)});
    writable_.notify_one();
  }
  std::ignore =
      done.wait_for(options_.patience);  // losing derived bytes costs time, waiting longer as well
  return {};
}

void Engine::drop_side(const Hash128& id) {
  for (std::uint64_t offset = 0;;) {
    const auto parts = cache_.find(id, offset, 1);
    if (!parts) return;
    cache_.drop(*parts);
    offset = parts->front().piece.offset + parts->front().piece.length;
  }
}

/// Follows others' logs, on the writer's thread, and waits for that a while.
void Engine::look_around() {
  const auto until = std::chrono::steady_clock::now() + options_.patience;
  MutexLock lock(mutex_);
  const std::uint64_t before = looks_;
  look_ = true;
  writable_.notify_one();
  while (looks_ == before && lock.wait_until(idle_, until)) {
  }
}

// --- to the disk ---------------------------------------------------------------------------------

void Engine::write() {
  learn();
  end_early();
  std::vector<Task> tasks;
  while (true) {
    bool look = false;
    tasks.clear();
    {
      MutexLock lock(mutex_);
      writing_ = false;
      idle_.notify_all();
      while (to_write_.empty() && !look_ && !written_out_) lock.wait(writable_);
      if (to_write_.empty() && !look_) return;
      writing_ = true;
      writing_since_ = context_.clock->now();
      look = std::exchange(look_, false);
      for (std::uint64_t bytes = 0; !to_write_.empty() && bytes < kWriteAtOnce;) {
        tasks.push_back(std::move(to_write_.front()));
        to_write_.pop_front();
        bytes += tasks.back().item.bytes.size();
      }
    }
    if (look && health_.usable()) learn();
    if (!tasks.empty()) write_tasks(tasks);
    if (!look) continue;
    const MutexLock lock(mutex_);
    ++looks_;
  }
}

/// The reads that came first go on: what is kept is known, or takes too long to be found out.
void Engine::end_early() {
  std::deque<std::pair<ReadRequest, ReadDone>> early;
  {
    const MutexLock lock(mutex_);
    if (!is_early_) return;
    is_early_ = false;
    early = std::exchange(early_, {});
    ending_early_ = true;
    idle_.notify_all();
  }
  for (auto& [request, done] : early) read(std::move(request), std::move(done));
  const MutexLock lock(mutex_);
  ending_early_ = false;
  idle_.notify_all();
}

/// What lies on the disk: all of it the first time, then what others added.
void Engine::learn() {
  const auto learned = is_loaded_ ? cache_.refresh() : cache_.load();
  if (!learned) return health_.trouble(learned.error());
  is_loaded_ = true;
}

void Engine::write_tasks(std::vector<Task>& tasks) {
  std::vector<Item> items;
  items.reserve(tasks.size());
  for (Task& task : tasks) items.push_back(std::move(task.item));
  keep_items(items);
  {
    const MutexLock lock(mutex_);
    for (const Task& task : tasks) finish(task);
  }
  launch_parked();
}

void Engine::finish(const Task& task) {
  if (task.written) task.written->set_value();
  if (!task.flight) return;
  unwritten_ -= task.flight->answer->bytes.size();
  task.flight->answer.reset();
  forget(task.flight);
}

void Engine::keep_items(std::span<const Item> items) {
  std::uint64_t total = 0;
  for (const Item& item : items) total += item.bytes.size();
  if (!health_.usable()) {
    not_kept_ += total;
    return;
  }
  const auto left_out = cache_.append(items);
  if (!left_out) {
    not_kept_ += total;
    return health_.trouble(left_out.error());
  }
  health_.well();
  if (*left_out == 0) return;
  not_kept_ += *left_out;
  context_.notices->add(
      "keep-full", fmt::format("the cache in {} holds its limit of {:.1f} GB; the rest is read "
                               "from the origin each time",
                               cache_.describe(), static_cast<double>(cache_.limit()) / 1e9));
}

// --- the watcher ---------------------------------------------------------------------------------

void Engine::watch(const std::stop_token& stop) {
  std::uint64_t seen = context_.metrics->get(Metric::cache_misses);
  while (context_.clock->sleep_for(kTick, stop)) {
    rescue();
    if (is_early_ && is_late()) end_early();
    launch_parked();
    const std::uint64_t misses = context_.metrics->get(Metric::cache_misses);
    if (misses == std::exchange(seen, misses)) continue;
    const MutexLock lock(mutex_);
    look_ = true;
    writable_.notify_one();
  }
}

/// What waits for a disk that does not answer goes to the origin.
void Engine::rescue() {
  const Nanos since = context_.clock->now() - options_.patience;
  std::deque<Task> given_up;
  bool stuck = pool_->is_stuck(since);
  {
    const MutexLock lock(mutex_);
    stuck = stuck || (writing_ && writing_since_ < since);
    if (!stuck) return;
    given_up = std::exchange(to_write_, {});
    for (const Task& task : given_up) {
      not_kept_ += task.item.bytes.size();
      finish(task);
    }
  }
  const double seconds = std::chrono::duration<double>(options_.patience).count();
  health_.trouble(
      Error(Code::unavailable, fmt::format("no answer for {} s", seconds)).at(cache_.describe()));
  for (DiskReadPtr& read : pool_->take_back(since)) {
    context_.metrics->add(Metric::cache_misses, 1);
    fly(read->id, read->place, std::move(read->request), std::move(read->done));
  }
}

}  // namespace

Result<std::unique_ptr<KeepStore>> make_keep_store_on(std::unique_ptr<Disk> disk, Store& base,
                                                      const KeepOptions& options,
                                                      const Context& context) {
  return std::unique_ptr<KeepStore>(
      std::make_unique<Engine>(std::move(disk), base, options, context));
}

}  // namespace headrace::keep
