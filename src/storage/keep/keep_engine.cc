// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/keep_engine.h"

#include "headrace/storage/forwarding_store.h"
#include "headrace/storage/keep/engine.h"
#include "headrace/storage/near_lister.h"

namespace headrace::keep {
namespace {

constexpr std::uint64_t kReadHere = std::uint64_t{1} << 20U;
constexpr int kReadErrors = 3;  ///< in a row: then it is the disk, not a place on it
/// A call to the disk that takes longer, while the store is closed: the disk hangs.
constexpr std::chrono::milliseconds kClosing{250};

/// The store that users see.
class EngineStore final : public ForwardingStore<KeepStore>, public NearLister, public PartReader {
 public:
  EngineStore(std::shared_ptr<Engine> engine, Store& base)
      : ForwardingStore(base), engine_(std::move(engine)) {}
  EngineStore(const EngineStore&) = delete;
  EngineStore& operator=(const EngineStore&) = delete;
  ~EngineStore() override { engine_->close(); }

  void hint(std::span<const Wanted> wanted) override { engine_->hint(wanted); }
  bool lists_near() const override { return near_lister(below()) != nullptr; }
  Result<void> list_near(const std::string& prefix, const std::string& near,
                         const std::stop_token& stop,
                         const std::function<Result<bool>(ListPage&&)>& sink) override {
    return near_lister(below())->list_near(prefix, near, stop, sink);
  }
  void read(ReadRequest request, ReadDone done) override {
    engine_->read(std::move(request), std::move(done));
  }
  void read_parts(ReadRequest request, std::shared_ptr<const WantedParts> wanted,
                  PartsDone done) override {
    engine_->read_parts(std::move(request), std::move(wanted), std::move(done));
  }
  Result<std::optional<Bytes>> get(const SideKey& key) override { return engine_->get(key); }
  Result<void> put(const SideKey& key, ByteSpan bytes) override { return engine_->put(key, bytes); }
  KeepStats stats() const override { return engine_->stats(); }
  void flush() override { engine_->flush(); }

 private:
  const std::shared_ptr<Engine> engine_;
};

}  // namespace

Engine::Engine(std::unique_ptr<Disk> disk, Store& base, const KeepOptions& options,
               const Context& context)
    : base_(base),
      store_(base.describe()),
      options_(options),
      context_(context),
      opened_at_(context.clock->now()),
      watch_(std::make_shared<DiskWatch>(*context.clock)),
      health_(context),
      cache_(watch_disk(std::move(disk), watch_), {.store = store_, .limit = options.limit_bytes},
             *context.clock),
      pool_(cache_, options.read_threads, [this](DiskReadPtr read, Result<Bytes> bytes) {
        answer(std::move(read), std::move(bytes));
      }) {}

void Engine::start() {
  const auto self = shared_from_this();
  crew_.add(self, [this] { write(); });
  crew_.add(self, [this] { mind_claims(); });
  for (std::size_t lane = 0; lane < pool_.lanes(); ++lane)
    crew_.add(self, [this, lane] { pool_.work(lane); });
  watcher_ = std::jthread([this](const std::stop_token& stop) { watch(stop); });
}

void Engine::close() {
  watcher_ = {};
  std::vector<FlightPtr> open;
  std::deque<FlightPtr> waiting;
  std::deque<std::pair<ReadRequest, ReadDone>> early;
  {
    MutexLock lock(mutex_);
    while (ending_early_) lock.wait(idle_);
    closing_ = true;
    for (const auto& [id, flight] : flights_) open.push_back(flight);
    early = std::exchange(early_, {});
    waiting = std::exchange(parked_, {});
    waiting.insert(waiting.end(), undecided_.begin(), undecided_.end());
    undecided_.clear();
  }
  for (auto& [request, done] : early)
    done(Error(Code::cancelled, "stopped").at(object_place(store_, request.key)));
  for (const FlightPtr& flight : open) flight->stop.request_stop();
  give_up(waiting);
  for (DiskReadPtr& read : pool_.take_all()) {
    answer(std::move(read), Error(Code::cancelled, "stopped"));
  }
  pool_.close();
  {
    MutexLock lock(mutex_);
    while (at_origin_ != 0) lock.wait(idle_);
    written_out_ = true;
    writable_.notify_all();
    claimable_.notify_all();
  }
  std::optional<std::uint64_t> before;
  const bool whole = crew_.join_or_leave(kClosing, [&] {
    const auto oldest = watch_->oldest();
    const bool hangs = oldest && oldest == std::exchange(before, oldest);
    return hangs || stopped();
  });
  if (!whole) watch_->shut();
}

KeepStats Engine::stats() const {
  return {.limit_bytes = cache_.limit(),
          .used_bytes = cache_.used(),
          .entries = cache_.entries(),
          .stored_bytes = cache_.stored(),
          .damaged = cache_.damaged(),
          .not_kept_bytes = not_kept_.load(),
          .shared = shared_.load()};
}

void Engine::flush() {
  wait_for_the_start();
  MutexLock lock(mutex_);
  while ((!to_write_.empty() || writing_) && !stuck_) {
    std::ignore = lock.wait_until(idle_, std::chrono::steady_clock::now() + kClosing);
  }
}

void Leave::operator()() const {
  const FlightPtr kept = flight;  // the flight may end, and this with it, during the call
  if (kept->wanted.fetch_sub(1) == 1) kept->stop.request_stop();
}

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
  std::optional<Parts> parts;
  if (request.fresh) {
    if (const auto stale = cache_.find(id.object, id.offset, id.length)) cache_.drop(*stale);
  } else if (usable()) {
    parts = cache_.want(id.object, id.offset, id.length);
    if (!parts) cache_.note_miss(id.object, place_id(store_, request.key));
  }
  if (!parts) return fly(id, std::move(request), std::move(done));
  // What is in memory costs less to copy than to hand to another thread.
  if (range->length <= kReadHere) {
    auto at_hand = cache_.read_at_hand(*parts);
    if (!at_hand) {
      read_failed(at_hand.error());
      return fly(id, std::move(request), std::move(done));
    }
    if (*at_hand) return hit(**std::move(at_hand), std::move(*request.pin), done);
  }
  auto read = std::make_unique<DiskRead>();
  read->id = id;
  read->request = std::move(request);
  read->done = std::move(done);
  read->parts = *std::move(parts);
  pool_.push(std::move(read));
}

void Engine::hit(Bytes bytes, Pin pin, const ReadDone& done) {
  if (read_errors_.load(std::memory_order_relaxed) != 0) read_errors_ = 0;
  count_hit(bytes.size());
  done(ReadResult{std::move(bytes), std::move(pin), true});
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
void Engine::fly(const RangeId& id, ReadRequest request, ReadDone done) {
  missed_.fetch_add(1, std::memory_order_relaxed);
  const std::uint64_t place = place_id(store_, request.key);
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
  claim(flight);
}

void Engine::launch(const FlightPtr& flight) {
  {
    const MutexLock lock(mutex_);
    flight->departed = context_.clock->now();
    departures_.insert(flight->departed);
  }
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
    claim(flight);
  }
}

void Engine::give_up(const std::deque<FlightPtr>& flights) {
  for (const FlightPtr& flight : flights) {
    {
      const MutexLock lock(mutex_);
      ++at_origin_;
    }
    land(flight, Error(Code::cancelled, "stopped").at(object_place(store_, flight->request.key)));
  }
}

void Engine::land(const FlightPtr& flight, const Result<ReadResult>& result) {
  std::vector<Waiter> waiters;
  const bool keep = result.ok() && usable();
  bool again = !result.ok() && result.error().code() == Code::cancelled;
  {
    const MutexLock lock(mutex_);
    waiters = std::exchange(flight->waiters, {});
    const auto departure = departures_.find(flight->departed);
    if (departure != departures_.end()) departures_.erase(departure);
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
  if (!keep) drop_claim(flight);
  context_.metrics->add(Metric::cache_misses, waiters.size());
  for (Waiter& waiter : waiters) {
    waiter.on_stop.reset();
    if (again && !waiter.stop.stop_requested()) {
      // The others left; this one joined too late to keep the flight going.
      ReadRequest request = flight->request;
      request.stop = waiter.stop;
      fly(flight->id, std::move(request), std::move(waiter.done));
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
  if (read->side) return read->side(std::move(bytes));
  if (bytes) return hit(*std::move(bytes), std::move(*read->request.pin), read->done);
  if (bytes.error().code() == Code::cancelled)
    return read->done(std::move(bytes).error().at(object_place(store_, read->request.key)));
  read_failed(bytes.error());
  fly(read->id, std::move(read->request), std::move(read->done));
}

void Engine::read_failed(const Error& error) {
  if (error.code() == Code::not_found) return;  // evicted meanwhile
  if (error.code() == Code::corrupt) {
    context_.notices->add("keep-damaged", error.to_string() + "; read again from the origin");
  } else if (read_errors_.fetch_add(1) + 1 >= kReadErrors) {
    health_.trouble(error);
  }
}

Result<std::unique_ptr<KeepStore>> make_keep_store_on(std::unique_ptr<Disk> disk, Store& base,
                                                      const KeepOptions& options,
                                                      const Context& context) {
  auto engine = std::make_shared<Engine>(std::move(disk), base, options, context);
  engine->start();
  return std::unique_ptr<KeepStore>(std::make_unique<EngineStore>(std::move(engine), base));
}

}  // namespace headrace::keep
