// SPDX-License-Identifier: Apache-2.0
#include "headrace/storage/keep/keep_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "headrace/base/mutex.h"
#include "headrace/storage/keep/cache.h"
#include "headrace/storage/ranges.h"

namespace headrace::keep {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kWriteAtOnce = std::uint64_t{16} << 20U;
constexpr Nanos kLookAround = 250ms;  ///< how often others' logs are read, if there were misses
constexpr Nanos kFirstPause = 1s;     ///< after trouble with the disk; doubles each time
constexpr Nanos kLongestPause = 60s;
constexpr int kReadErrors = 3;  ///< in a row: then it is the disk, not a place on it

/// Which bytes: reads of the same ones share a flight.
struct RangeId {
  Hash128 object;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;
  auto operator<=>(const RangeId&) const = default;
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

struct Flight {
  RangeId id;
  ReadRequest request;
  std::vector<Waiter> waiters;       ///< guarded by the engine's mutex
  std::optional<ReadResult> answer;  ///< arrived and not on disk yet; guarded as well
  std::stop_source stop;
  std::atomic<int> wanted = 0;
};

void Leave::operator()() const {
  const FlightPtr kept = flight;  // the flight may end, and this with it, during the call
  if (kept->wanted.fetch_sub(1) == 1) kept->stop.request_stop();
}

/// A read that the disk will answer.
struct DiskRead {
  RangeId id;
  ReadRequest request;
  ReadDone done;
  Parts parts;
};

class Engine final : public KeepStore {
 public:
  Engine(std::unique_ptr<Disk> disk, Store& base, const KeepOptions& options,
         const Context& context)
      : base_(base),
        options_(options),
        context_(context),
        cache_(std::move(disk), {.store = base.describe(), .limit = options.limit_bytes},
               *context.clock) {}

  Result<void> start() {
    if (auto loaded = cache_.load(); !loaded) trouble(loaded.error());
    for (unsigned i = 0; i < std::max(1U, options_.read_threads); ++i)
      readers_.emplace_back([this] { read_disk(); });
    writer_ = std::jthread([this] { write_disk(); });
    watcher_ = std::jthread([this](const std::stop_token& stop) { look_around(stop); });
    return {};
  }

  ~Engine() override {
    watcher_ = {};
    std::vector<FlightPtr> open;
    {
      const MutexLock lock(mutex_);
      closing_ = true;
      for (const auto& [id, flight] : flights_) open.push_back(flight);
      readable_.notify_all();
    }
    for (const FlightPtr& flight : open) flight->stop.request_stop();
    launch_parked();
    readers_.clear();
    {
      MutexLock lock(mutex_);
      while (at_origin_ != 0 || passing_ != 0) lock.wait(idle_);
      written_out_ = true;
      writable_.notify_all();
    }
    writer_ = {};
  }

  // --- the origin's own business ---------------------------------------------------------------
  std::string describe() const override { return base_.describe(); }
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

  void hint(std::span<const Wanted> wanted) override {
    std::vector<Wanted> missing;
    for (const Wanted& want : wanted) {
      const auto range = resolve(want.range, want.pin.size);
      if (range && range->length > 0 &&
          !cache_.find(object_id(base_.describe(), want.key, want.pin), range->offset,
                       range->length))
        missing.push_back(want);
    }
    base_.hint(missing);
  }

  // --- reading ---------------------------------------------------------------------------------
  void read(ReadRequest request, ReadDone done) override {
    if (!request.pin) return pass(std::move(request), std::move(done));
    const auto range = resolve(request.range, request.pin->size);
    if (!range || range->length == 0) return pass(std::move(request), std::move(done));
    if (request.stop.stop_requested()) {
      return done(
          Error(Code::cancelled, "stopped").at(object_place(base_.describe(), request.key)));
    }
    request.range = *range;
    const RangeId id{object_id(base_.describe(), request.key, *request.pin), range->offset,
                     range->length};
    std::optional<Parts> parts;
    if (request.fresh) {
      if (auto stale = cache_.find(id.object, id.offset, id.length)) cache_.drop(*stale);
    } else if (reads_allowed()) {
      parts = cache_.find(id.object, id.offset, id.length);
    }
    if (parts) return queue_disk_read({id, std::move(request), std::move(done), *std::move(parts)});
    context_.metrics->add(Metric::cache_misses, 1);
    fly(id, std::move(request), std::move(done));
  }

  // --- derived bytes ---------------------------------------------------------------------------
  Result<std::optional<Bytes>> get(const SideKey& key) override;
  Result<void> put(const SideKey& key, ByteSpan bytes) override;

  void drop_side(const Hash128& id) {
    for (std::uint64_t offset = 0;;) {
      const auto parts = cache_.find(id, offset, 1);
      if (!parts) return;
      cache_.drop(*parts);
      offset = parts->front().piece.offset + parts->front().piece.length;
    }
  }

  // --- what is going on ------------------------------------------------------------------------
  KeepStats stats() const override {
    return {.limit_bytes = cache_.limit(),
            .used_bytes = cache_.used(),
            .entries = cache_.entries(),
            .stored_bytes = cache_.stored(),
            .damaged = cache_.damaged(),
            .not_kept_bytes = not_kept_.load()};
  }

  void flush() override {
    MutexLock lock(mutex_);
    while (!to_write_.empty() || writing_) lock.wait(idle_);
  }

 private:
  /// Reads that the cache has no part in.
  void pass(ReadRequest request, ReadDone done) {
    {
      const MutexLock lock(mutex_);
      ++passing_;
    }
    base_.read(std::move(request), [this, done = std::move(done)](Result<ReadResult> result) {
      done(std::move(result));
      const MutexLock lock(mutex_);
      --passing_;
      idle_.notify_all();
    });
  }

  /// Joins the flight that fetches these bytes, or starts one.
  void fly(const RangeId& id, ReadRequest request, ReadDone done) {
    FlightPtr flight;
    bool joined = false;
    std::optional<ReadResult> at_hand;
    {
      const MutexLock lock(mutex_);
      FlightPtr& known = flights_[id];
      joined = known != nullptr && !request.fresh;
      if (joined) {
        at_hand = known->answer;
      } else {
        known = std::make_shared<Flight>();
        known->id = id;
        known->request = request;
        known->request.stop = known->stop.get_token();
      }
      flight = known;
      if (!at_hand) {
        flight->wanted.fetch_add(1);
        flight->waiters.push_back({std::move(done), request.stop, nullptr});
      }
    }
    if (at_hand) {
      count_hit(at_hand->bytes.size());
      at_hand->from_cache = true;
      return done(*std::move(at_hand));
    }
    watch_stop(flight, request.stop);
    if (joined) return;
    bool park = false;
    {
      const MutexLock lock(mutex_);
      if (closing_) flight->stop.request_stop();
      park = unwritten_ >= options_.write_queue_bytes && !closing_;
      if (park) {
        parked_.push_back(flight);
      } else {
        ++at_origin_;
      }
    }
    if (!park) launch(flight);
  }

  /// The callback is made without the lock, since it may run at once.
  void watch_stop(const FlightPtr& flight, const std::stop_token& stop) {
    auto callback = std::make_unique<std::stop_callback<Leave>>(stop, Leave{flight});
    const MutexLock lock(mutex_);
    for (Waiter& waiter : flight->waiters) {
      if (waiter.on_stop || waiter.stop != stop) continue;
      waiter.on_stop = std::move(callback);
      return;
    }
    // The flight landed already; so did our read.
  }

  void launch(const FlightPtr& flight) {
    base_.read(flight->request,
               [this, flight](Result<ReadResult> result) { land(flight, std::move(result)); });
  }

  void launch_parked() {
    while (true) {
      FlightPtr flight;
      {
        const MutexLock lock(mutex_);
        if (parked_.empty()) return;
        if (unwritten_ >= options_.write_queue_bytes && !closing_) return;
        flight = std::move(parked_.front());
        parked_.pop_front();
        ++at_origin_;
      }
      launch(flight);
    }
  }

  void land(const FlightPtr& flight, Result<ReadResult> result) {
    std::vector<Waiter> waiters;
    const bool keep = result.ok() && writes_allowed();
    {
      const MutexLock lock(mutex_);
      waiters = std::move(flight->waiters);
      flight->waiters.clear();
      if (keep) {
        flight->answer = *result;
        unwritten_ += result->bytes.size();
        to_write_.push_back(flight);
      } else {
        forget(flight);
        if (result.ok()) not_kept_ += result->bytes.size();
      }
    }
    const bool left = !result.ok() && result.error().code() == Code::cancelled;
    for (Waiter& waiter : waiters) {
      waiter.on_stop.reset();
      if (left && !waiter.stop.stop_requested() && !is_closing()) {
        // The others left; this one joined too late to keep the flight going.
        ReadRequest again = flight->request;
        again.stop = waiter.stop;
        fly(flight->id, std::move(again), std::move(waiter.done));
      } else {
        waiter.done(result);
      }
    }
    const MutexLock lock(mutex_);
    if (keep) writable_.notify_one();  // after the delivery, which comes first
    --at_origin_;
    idle_.notify_all();
  }

  void forget(const FlightPtr& flight) HEADRACE_REQUIRES(mutex_) {
    const auto found = flights_.find(flight->id);
    if (found != flights_.end() && found->second == flight) flights_.erase(found);
  }

  bool is_closing() {
    const MutexLock lock(mutex_);
    return closing_;
  }

  // --- the pool that reads the disk ------------------------------------------------------------
  void queue_disk_read(DiskRead read) {
    const MutexLock lock(mutex_);
    disk_reads_.push_back(std::move(read));
    readable_.notify_one();
  }

  void read_disk() {
    while (true) {
      std::optional<DiskRead> read;
      bool closing = false;
      {
        MutexLock lock(mutex_);
        while (disk_reads_.empty() && !closing_) lock.wait(readable_);
        if (disk_reads_.empty()) return;
        read = std::move(disk_reads_.front());
        disk_reads_.pop_front();
        closing = closing_;
      }
      answer_from_disk(*std::move(read), closing);
    }
  }

  void answer_from_disk(DiskRead read, bool closing) {
    const std::string place = object_place(base_.describe(), read.request.key);
    if (closing || read.request.stop.stop_requested())
      return read.done(Error(Code::cancelled, "stopped").at(place));
    auto bytes = cache_.read(read.parts);
    if (bytes) {
      read_errors_.store(0, std::memory_order_relaxed);
      count_hit(bytes->size());
      return read.done(ReadResult{*std::move(bytes), *read.request.pin, true});
    }
    read_failed(read.parts, bytes.error());
    context_.metrics->add(Metric::cache_misses, 1);
    fly(read.id, std::move(read.request), std::move(read.done));
  }

  void read_failed(const Parts& parts, const Error& error) {
    if (error.code() == Code::not_found) return;  // evicted meanwhile
    if (error.code() == Code::corrupt) {
      context_.notices->add("keep-damaged", error.to_string() + "; read again from the origin");
      return;
    }
    cache_.drop(parts);  // a bad place of the disk: written again, elsewhere
    if (read_errors_.fetch_add(1) + 1 >= kReadErrors) trouble(error);
  }

  void count_hit(std::uint64_t bytes) {
    context_.metrics->add(Metric::cache_hits, 1);
    context_.metrics->add(Metric::bytes_cache, bytes);
  }

  // --- the thread that writes the disk ---------------------------------------------------------
  void write_disk() {
    std::vector<FlightPtr> batch;
    std::vector<Item> items;
    while (true) {
      batch.clear();
      items.clear();
      {
        MutexLock lock(mutex_);
        writing_ = false;
        idle_.notify_all();
        while (to_write_.empty() && !written_out_) lock.wait(writable_);
        if (to_write_.empty()) return;
        writing_ = true;
        for (std::uint64_t bytes = 0; !to_write_.empty() && bytes < kWriteAtOnce;) {
          batch.push_back(std::move(to_write_.front()));
          to_write_.pop_front();
          bytes += batch.back()->answer->bytes.size();
          items.push_back({.object = batch.back()->id.object,
                           .offset = batch.back()->id.offset,
                           .name = batch.back()->request.key,
                           .bytes = batch.back()->answer->bytes});
        }
      }
      keep_items(items);
      {
        const MutexLock lock(mutex_);
        for (const FlightPtr& flight : batch) {
          unwritten_ -= flight->answer->bytes.size();
          flight->answer.reset();
          forget(flight);
        }
      }
      launch_parked();
    }
  }

  void keep_items(std::span<const Item> items) {
    std::uint64_t total = 0;
    for (const Item& item : items) total += item.bytes.size();
    if (!writes_allowed()) {
      not_kept_ += total;
      return;
    }
    Result<std::uint64_t> left_out = std::uint64_t{0};
    {
      const MutexLock lock(appending_);
      left_out = cache_.append(items);
    }
    if (!left_out) {
      not_kept_ += total;
      return trouble(left_out.error());
    }
    pause_ = kFirstPause;
    if (*left_out == 0) return;
    not_kept_ += *left_out;
    context_.notices->add(
        "keep-full", fmt::format("the cache in {} holds its limit of {:.1f} GB; the rest is read "
                                 "from the origin each time",
                                 cache_.describe(), static_cast<double>(cache_.limit()) / 1e9));
  }

  // --- trouble ---------------------------------------------------------------------------------
  bool reads_allowed() const { return context_.clock->now().count() >= off_until_.load(); }
  bool writes_allowed() const { return reads_allowed(); }

  /// The cache's disk failed: the job goes on without it, and it is tried again later.
  void trouble(const Error& error) {
    const Nanos pause = pause_.load();
    context_.notices->add(
        "keep-trouble", fmt::format("the cache's disk fails ({}); the job goes on from the origin, "
                                    "and the cache is tried again later",
                                    error.to_string()));
    off_until_ = (context_.clock->now() + pause).count();
    pause_ = std::min(pause * 2, kLongestPause);
  }

  void look_around(const std::stop_token& stop) {
    std::uint64_t seen = context_.metrics->get(Metric::cache_misses);
    while (context_.clock->sleep_for(kLookAround, stop)) {
      const std::uint64_t misses = context_.metrics->get(Metric::cache_misses);
      if (misses == std::exchange(seen, misses) || !reads_allowed()) continue;
      if (auto done = cache_.refresh(); !done) trouble(done.error());
    }
  }

  Store& base_;
  const KeepOptions options_;
  const Context context_;
  Cache cache_;
  std::atomic<std::int64_t> off_until_ = 0;  ///< steady time in ns; the cache is left alone before
  std::atomic<Nanos> pause_ = kFirstPause;
  std::atomic<std::uint64_t> not_kept_ = 0;
  std::atomic<int> read_errors_ = 0;

  Mutex appending_;  ///< one appends at a time: the writer, or a side store's put
  Mutex mutex_;
  Condition readable_;
  Condition writable_;
  Condition idle_;
  std::map<RangeId, FlightPtr> flights_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<FlightPtr> parked_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<FlightPtr> to_write_ HEADRACE_GUARDED_BY(mutex_);
  std::deque<DiskRead> disk_reads_ HEADRACE_GUARDED_BY(mutex_);
  std::uint64_t unwritten_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< bytes delivered, not on disk
  std::uint64_t at_origin_ HEADRACE_GUARDED_BY(mutex_) = 0;  ///< flights the origin answers
  std::uint64_t passing_ HEADRACE_GUARDED_BY(mutex_) = 0;
  bool writing_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool closing_ HEADRACE_GUARDED_BY(mutex_) = false;
  bool written_out_ HEADRACE_GUARDED_BY(mutex_) = false;  ///< nothing will be added to to_write_

  std::vector<std::jthread> readers_;
  std::jthread writer_;
  std::jthread watcher_;
};

// Derived bytes are kept as one object: their length, their hash, and the bytes.
struct SideHeader {
  std::uint64_t length = 0;
  Hash128 hash;
};

Result<std::optional<Bytes>> Engine::get(const SideKey& key) {
  if (!reads_allowed()) return std::optional<Bytes>();
  const Hash128 id = side_id(key);
  const auto read_range = [&](std::uint64_t offset, std::uint64_t length) -> std::optional<Bytes> {
    const auto parts = cache_.find(id, offset, length);
    if (!parts) return std::nullopt;
    auto bytes = cache_.read(*parts);
    if (bytes) return *std::move(bytes);
    read_failed(*parts, bytes.error());
    return std::nullopt;
  };
  auto start = read_range(0, sizeof(SideHeader));
  if (!start) {
    if (auto done = cache_.refresh(); !done) trouble(done.error());
    start = read_range(0, sizeof(SideHeader));
  }
  if (!start) return std::optional<Bytes>();
  SideHeader header;
  std::memcpy(&header, start->data(), sizeof header);
  if (header.length == 0) return std::optional<Bytes>(Bytes());
  auto bytes = read_range(sizeof header, header.length);
  if (!bytes || hash_bytes(bytes->span()) != header.hash) return std::optional<Bytes>();
  return bytes;
}

Result<void> Engine::put(const SideKey& key, ByteSpan bytes) {
  if (!writes_allowed()) return {};
  const SideHeader header{.length = bytes.size(), .hash = hash_bytes(bytes)};
  Buffer whole(sizeof header + bytes.size());
  std::memcpy(whole.data(), &header, sizeof header);
  if (!bytes.empty()) std::memcpy(whole.data() + sizeof header, bytes.data(), bytes.size());
  const std::size_t size = whole.size();
  drop_side(side_id(key));  // what was put before, of whatever length
  const Item item{.kind = EntryKind::side,
                  .object = side_id(key),
                  .name = key.kind + " " + key.object,
                  .bytes = std::move(whole).freeze(size)};
  keep_items({&item, 1});
  return {};
}

}  // namespace

Result<std::unique_ptr<KeepStore>> make_keep_store_on(std::unique_ptr<Disk> disk, Store& base,
                                                      const KeepOptions& options,
                                                      const Context& context) {
  auto engine = std::make_unique<Engine>(std::move(disk), base, options, context);
  HEADRACE_TRY(engine->start());
  return std::unique_ptr<KeepStore>(std::move(engine));
}

}  // namespace headrace::keep
